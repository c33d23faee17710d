import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { postgres, type SqlValue, sqlStore } from '../../src/sql/index.js';
import { testQuotaStore } from '../../src/testing/index.js';

const url = inject('postgresUrl');

describe.skipIf(!url)('on a real server', () => {
  let pool: pg.Pool;
  let opened = 0;

  beforeAll(async () => {
    const schema = `quota_suite_${process.pid}`;
    const admin = new pg.Client(url);
    await admin.connect();
    await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}`);
    await admin.end();
    pool = new pg.Pool({ connectionString: url, options: `-c search_path=${schema}`, max: 10 });
  });
  afterAll(() => pool?.end());

  async function fresh(clock?: () => number) {
    const store = sqlStore({ database: postgres(pool), tablePrefix: `t${opened++}_`, clock });
    await store.createSchema();
    return store;
  }

  testQuotaStore({ describe, it, name: 'PostgreSQL', open: ({ clock }) => fresh(clock) });

  it('creates its schema in many processes concurrently', async () => {
    const stores = Array.from({ length: 8 }, () => sqlStore({ database: postgres(pool), tablePrefix: 'at_once_' }));
    await Promise.all(stores.map((store) => store.createSchema()));
    expect(await stores[0]!.getLimits('p')).toBeUndefined();
  });

  it('expires reservations by the clock of the server by default', async () => {
    const store = await fresh();
    const reservation = { id: 'h', project: 'p', amounts: { secrets: 1 } };
    await store.reserve({ ...reservation, defaults: { secrets: 1 }, ttlMs: 3_600_000 });
    const { rows } = await pool.query(
      `SELECT expires_at - (extract(epoch FROM now()) * 1000)::bigint AS ms FROM t${opened - 1}_holds`,
    );
    expect(Math.abs(Number(rows[0].ms) - 3_600_000)).toBeLessThan(60_000);
    expect(await store.settle(reservation, 'commit')).toBe(true);
  });

  it('does not deadlock if several stores mix kinds and expire reservations', async () => {
    let now = 1_000_000;
    const prefix = `circle_`;
    const stores = Array.from({ length: 4 }, () =>
      sqlStore({ database: postgres(pool), tablePrefix: prefix, clock: () => now }),
    );
    await stores[0]!.createSchema();
    const kinds = ['a', 'b', 'c'];
    const defaults = { a: 20, b: 20, c: 20 };
    for (let round = 0; round < 10; round++) {
      const work = Array.from({ length: 80 }, async (_, index) => {
        const store = stores[index % 4]!;
        const amounts = { [kinds[(index + 2) % 3]!]: 1, [kinds[index % 3]!]: 1 };
        const reservation = { id: `${round}-${index}`, project: `p${index % 2}`, amounts };
        const exceeded = await store.reserve({ ...reservation, defaults, ttlMs: 10 + (index % 20) });
        if (exceeded.length === 0 && index % 5 === 0) await store.settle(reservation, 'release');
        now += 1;
      });
      await Promise.all([...work, stores[round % 4]!.sweep()]);
    }
    now += 1000;
    await stores[0]!.sweep();
    const { rows } = await pool.query(`SELECT used, reserved FROM ${prefix}counters`);
    // Two projects with three kinds each.
    expect(rows).toHaveLength(6);
    expect(rows.map(({ used, reserved }) => [Number(used), Number(reserved)])).toEqual(rows.map(() => [0, 0]));
  });

  /** Opens a store that records each query to the server. */
  async function noting() {
    const texts: string[] = [];
    const noted = {
      async connect() {
        const client = await pool.connect();
        return {
          query: (query: string | { text: string; values: readonly SqlValue[] }) => {
            texts.push(typeof query === 'string' ? query : query.text);
            return client.query(query as string);
          },
          release: (broken?: boolean) => client.release(broken),
          on: client.on.bind(client),
          off: client.off.bind(client),
        };
      },
    };
    await fresh();
    const store = sqlStore({ database: postgres(noted), tablePrefix: `t${opened - 1}_` });
    const request = async (work: () => unknown) => {
      texts.length = 0;
      await work();
      return texts.length;
    };
    return { store, request };
  }
  const reservationsOf = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ id: `h${n}`, project: `p${n % 3}`, amounts: { secrets: 1 } }));

  it('sends two queries to reserve, to settle and to consume for any number of concurrent calls', async () => {
    const { store, request: requested } = await noting();
    const reservations = reservationsOf(50);
    const reserve = () =>
      Promise.all(
        reservations.map((reservation) => store.reserve({ ...reservation, defaults: { secrets: -1 }, ttlMs: 60_000 })),
      );
    expect(await requested(reserve)).toBe(2);
    expect(
      await requested(() => Promise.all(reservations.map((reservation) => store.settle(reservation, 'commit')))),
    ).toBe(2);
    const consume = () =>
      Promise.all(reservations.map((reservation) => store.consume!({ ...reservation, defaults: { secrets: -1 } })));
    expect(await requested(consume)).toBe(2);
    expect((await store.counts('p0')).secrets).toEqual({ used: 34, reserved: 0 });
  });

  it('sends one query to reserve, to settle and to consume for a single call, and a second for the reason of a rejection', async () => {
    const { store, request: requested } = await noting();
    const [reservation] = reservationsOf(1);
    const reserve = (id: string) => store.reserve({ ...reservation!, id, defaults: { secrets: 2 }, ttlMs: 60_000 });
    const consume = (id: string) => store.consume!({ ...reservation!, id, defaults: { secrets: 2 } });
    // Creates the counter.
    await reserve('first');
    expect(await requested(async () => expect(await reserve('second')).toEqual([]))).toBe(1);
    const rejection = [{ kind: 'secrets', requested: 1, used: 2, limit: 2 }];
    expect(await requested(async () => expect(await reserve('third')).toEqual(rejection))).toBe(2);
    expect(await requested(async () => expect(await consume('third')).toEqual(rejection))).toBe(2);
    const settle = (id: string, outcome: 'commit' | 'release') => store.settle({ ...reservation!, id }, outcome);
    expect(await requested(async () => expect(await settle('first', 'commit')).toBe(true))).toBe(1);
    expect(await requested(async () => expect(await settle('first', 'commit')).toBe(false))).toBe(1);
    expect(await requested(async () => expect(await settle('second', 'release')).toBe(true))).toBe(1);
    expect(await requested(async () => expect(await consume('now')).toEqual([]))).toBe(1);
    expect((await store.counts('p0')).secrets).toEqual({ used: 2, reserved: 0 });
    await store.setLimits('p0', { secrets: 3 });
    expect(await requested(async () => expect(await reserve('own limit')).toEqual([]))).toBe(1);
  });

  it('deletes obsolete receipts', { timeout: 60_000 }, async () => {
    const store = await fresh();
    const receipts = `t${opened - 1}_receipts`;
    const countOf = async () => Number((await pool.query(`SELECT count(*) AS count FROM ${receipts}`)).rows[0].count);
    const consume = () => store.consume!({ id: 'h', project: 'p', amounts: { secrets: 1 }, defaults: { secrets: -1 } });
    // The first call creates the counter, which needs a second operation.
    for (let turn = 0; turn < 998; turn++) await consume();
    expect(await countOf()).toBe(998);
    await consume();
    await expect.poll(countOf).toBe(0);
    await consume();
    await pool.query(`UPDATE ${receipts} SET at = at - interval '23 hours'`);
    await store.sweep();
    expect(await countOf()).toBe(1);
    await pool.query(`UPDATE ${receipts} SET at = at - interval '1 hour'`);
    await store.sweep();
    expect(await countOf()).toBe(0);
    expect((await store.counts('p')).secrets).toEqual({ used: 1000, reserved: 0 });
  });

  it('admits exactly the limit in several stores with sequential calls on separate connections', async () => {
    await fresh();
    const tablePrefix = `t${opened - 1}_`;
    const stores = Array.from({ length: 8 }, () => sqlStore({ database: postgres(pool), tablePrefix }));
    const defaults = { secrets: 100 };
    const admitted = await Promise.all(
      stores.map(async (store, lane) => {
        let consumed = 0;
        for (let turn = 0; ; turn++) {
          const reservation = { id: `${lane}-${turn}`, project: 'p', amounts: { secrets: 1 } };
          if ((await store.reserve({ ...reservation, defaults, ttlMs: 600_000 })).length > 0) return consumed;
          if (turn % 3 === 0) expect(await store.settle(reservation, 'release')).toBe(true);
          else {
            consumed++;
            if (turn % 3 === 1) expect(await store.settle(reservation, 'commit')).toBe(true);
          }
        }
      }),
    );
    // Amounts that were released during the rejections may be free again.
    const sum = admitted.reduce((all, amount) => all + amount, 0);
    const { used, reserved } = (await stores[0]!.counts('p')).secrets!;
    expect(used + reserved).toBe(sum);
    expect(sum).toBeLessThanOrEqual(100);
    expect(sum).toBeGreaterThan(100 - stores.length);
  });

  it('works without prepared statements on sessions of a pooler', async () => {
    await fresh();
    const one = new pg.Pool({ ...pool.options, max: 1 });
    try {
      const store = sqlStore({ database: postgres(one), tablePrefix: `t${opened - 1}_` });
      const reserve = (id: string) =>
        store.reserve({ id, project: 'p', amounts: { secrets: 1 }, defaults: { secrets: 9 }, ttlMs: 60_000 });
      await reserve('makes the counter');
      await reserve('is prepared');
      // Behaves like a pooler that assigns another session.
      await one.query('DEALLOCATE ALL');
      expect(await reserve('third')).toEqual([]);
      await one.query('DEALLOCATE ALL');
      expect(await reserve('fourth')).toEqual([]);
      expect((await store.counts('p')).secrets).toEqual({ used: 0, reserved: 4 });
      expect((await one.query('SELECT name FROM pg_prepared_statements')).rows).toEqual([]);
    } finally {
      await one.end();
    }
  });

  it.each(['on', 'off'])('escapes names with any characters, with standard_conforming_strings %s', async (setting) => {
    const store = await fresh();
    const strict = new pg.Pool({
      connectionString: url,
      options: `${pool.options.options} -c standard_conforming_strings=${setting}`,
    });
    try {
      const same = sqlStore({ database: postgres(strict), tablePrefix: `t${opened - 1}_` });
      const names = [
        "it's",
        "'; DROP TABLE counters; --",
        '\\',
        "\\'",
        "\\\\'",
        '? $1 $& :a',
        '"',
        '\n\t',
        '\u2028é😀',
        'E',
      ];
      for (const [number, project] of names.entries()) {
        const reservation = { id: `${project}-id`, project, amounts: { secrets: number + 1 } };
        expect(await same.reserve({ ...reservation, defaults: { secrets: 20 }, ttlMs: 60_000 })).toEqual([]);
        await same.setLimits(project, { secrets: number });
        expect(await same.settle(reservation, 'commit')).toBe(true);
      }
      const found = await Promise.all(names.map(async (name) => (await store.counts(name)).secrets?.used));
      expect(found).toEqual(names.map((_, number) => number + 1));
      const { entries } = await store.listLimits({ limit: 100, offset: 0 });
      expect(entries.map(({ project }) => project)).toEqual(names);
    } finally {
      await strict.end();
    }
  });

  it('leaves the pool usable after a failed transaction', async () => {
    const broken = sqlStore({ database: postgres(pool), tablePrefix: 'missing_' });
    for (let attempt = 0; attempt < 30; attempt++)
      await expect(broken.getLimits('p')).rejects.toThrow('missing_limits');
    expect(await (await fresh()).getLimits('p')).toBeUndefined();
  });
});
