import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { postgres, sqlStore } from '../../src/sql/index.js';
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

  it('creates its schema in many processes at once', async () => {
    const stores = Array.from({ length: 8 }, () => sqlStore({ database: postgres(pool), tablePrefix: 'at_once_' }));
    await Promise.all(stores.map((store) => store.createSchema()));
    expect(await stores[0]!.getLimits('p')).toBeUndefined();
  });

  it('reservations expire by the clock of the server unless another is given', async () => {
    const store = await fresh();
    const hold = { id: 'h', project: 'p', amounts: { secrets: 1 } };
    await store.reserve({ ...hold, defaults: { secrets: 1 }, ttlMs: 3_600_000 });
    const { rows } = await pool.query(
      `SELECT expires_at - (extract(epoch FROM now()) * 1000)::bigint AS ms FROM t${opened - 1}_holds`,
    );
    expect(Math.abs(Number(rows[0].ms) - 3_600_000)).toBeLessThan(60_000);
    expect(await store.settle(hold, 'commit')).toBe(true);
  });

  it('several stores that mix kinds and expire reservations never wait for each other in a circle', async () => {
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
        const hold = { id: `${round}-${index}`, project: `p${index % 2}`, amounts };
        const exceeded = await store.reserve({ ...hold, defaults, ttlMs: 10 + (index % 20) });
        if (exceeded.length === 0 && index % 5 === 0) await store.settle(hold, 'release');
        now += 1;
      });
      await Promise.all([...work, stores[round % 4]!.sweep()]);
    }
    now += 1000;
    await stores[0]!.sweep();
    const { rows } = await pool.query(`SELECT used, reserved FROM ${prefix}counters`);
    expect(rows.map(({ used, reserved }) => [Number(used), Number(reserved)])).toEqual(rows.map(() => [0, 0]));
  });

  it('asks the server twice to reserve and twice to settle, however many ask at once', async () => {
    const texts: string[] = [];
    const noting = {
      async connect() {
        const client = await pool.connect();
        return {
          query: (text: string) => {
            texts.push(text);
            return client.query(text);
          },
          release: (broken?: boolean) => client.release(broken),
          on: client.on.bind(client),
          off: client.off.bind(client),
        };
      },
    };
    await fresh();
    const store = sqlStore({ database: postgres(noting), tablePrefix: `t${opened - 1}_` });
    const holds = Array.from({ length: 50 }, (_, n) => ({
      id: `h${n}`,
      project: `p${n % 3}`,
      amounts: { secrets: 1 },
    }));
    const asked = async (work: () => Promise<unknown>) => {
      texts.length = 0;
      await work();
      return texts.length;
    };
    const reserve = () =>
      Promise.all(holds.map((hold) => store.reserve({ ...hold, defaults: { secrets: -1 }, ttlMs: 60_000 })));
    expect(await asked(reserve)).toBe(2);
    expect(await asked(() => Promise.all(holds.map((hold) => store.settle(hold, 'commit'))))).toBe(2);
    expect((await store.counts('p0')).secrets).toEqual({ used: 17, reserved: 0 });
  });

  it.each(['on', 'off'])(
    'takes names for names, whatever is in them, with standard_conforming_strings %s',
    async (setting) => {
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
          const hold = { id: `${project}-id`, project, amounts: { secrets: number + 1 } };
          expect(await same.reserve({ ...hold, defaults: { secrets: 20 }, ttlMs: 60_000 })).toEqual([]);
          await same.setLimits(project, { secrets: number });
          expect(await same.settle(hold, 'commit')).toBe(true);
        }
        const found = await Promise.all(names.map(async (name) => (await store.counts(name)).secrets?.used));
        expect(found).toEqual(names.map((_, number) => number + 1));
        const { entries } = await store.listLimits({ limit: 100, offset: 0 });
        expect(entries.map(({ project }) => project)).toEqual(names);
      } finally {
        await strict.end();
      }
    },
  );

  it('a transaction that fails leaves the pool usable', async () => {
    const broken = sqlStore({ database: postgres(pool), tablePrefix: 'missing_' });
    for (let attempt = 0; attempt < 30; attempt++)
      await expect(broken.getLimits('p')).rejects.toThrow('missing_limits');
    expect(await (await fresh()).getLimits('p')).toBeUndefined();
  });
});
