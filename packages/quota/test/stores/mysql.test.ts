import { createPool, type Pool } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMariadb, type TestServer } from '../../../../testing/servers.js';
import { mysql, sqlStore } from '../../src/sql/index.js';
import { testQuotaStore } from '../../src/testing/index.js';
import { testLostResponses } from '../lost-responses-suite.js';

/** A new data folder is created first, which takes long on a busy machine. */
const START_TIMEOUT_MS = 240_000;

/** The message that ends a transaction: the kind of a query without parameters, then its text. */
const COMMIT = '\u0003COMMIT';

let server: TestServer | undefined;
let pool: Pool;
let opened = 0;

beforeAll(async () => {
  server = await startMariadb();
  if (server) pool = createPool({ uri: server.url, connectionLimit: 10 });
  else console.warn('\n*** SKIPPED: the tests of the store in MariaDB: this machine has no mariadb-server ***\n');
}, START_TIMEOUT_MS);
afterAll(async () => {
  await pool?.end();
  await server?.stop();
});

async function fresh(clock?: () => number) {
  const tablePrefix = `t${opened++}_`;
  const store = sqlStore({ database: mysql(pool), tablePrefix, clock });
  await store.createSchema();
  return { store, tablePrefix };
}

/** Reads all rows of a table of a store. */
async function rowsOf(table: string): Promise<Record<string, unknown>[]> {
  const [rows] = await pool.query(`SELECT * FROM ${table}`);
  return rows as Record<string, unknown>[];
}

/** Skips a test without a server. */
const onServer = (title: string, body: () => Promise<void>) =>
  it(title, { timeout: 120_000 }, async (context) => {
    if (!server) return context.skip('this machine has no mariadb-server');
    await body();
  });

testQuotaStore({
  describe,
  it: onServer,
  name: 'MariaDB',
  open: async ({ clock }) => (await fresh(clock)).store,
});

testLostResponses({
  name: 'MariaDB',
  url: () => server?.url ?? '',
  async open(url, port) {
    const there = new URL(url);
    if (port) there.port = String(port);
    const own = createPool({ uri: there.href, connectionLimit: 2 });
    const tablePrefix = `lost_${port ? opened : ++opened}_`;
    const store = sqlStore({ database: mysql(own), tablePrefix });
    if (!port) await store.createSchema();
    const undone = async () => (await rowsOf(`${tablePrefix}receipts`)).filter((receipt) => receipt.undone).length;
    return { store, undone, close: () => own.end() };
  },
  one: COMMIT,
  commit: COMMIT,
  locks: true,
});

describe('sqlStore on MariaDB', () => {
  onServer('creates its schema in many processes concurrently', async () => {
    const stores = Array.from({ length: 8 }, () => sqlStore({ database: mysql(pool), tablePrefix: 'at_once_' }));
    await Promise.all(stores.map((store) => store.createSchema()));
    expect(await stores[0]!.getLimits('p')).toBeUndefined();
  });

  onServer('expires reservations by the clock of the server by default', async () => {
    const { store, tablePrefix } = await fresh();
    const reservation = { id: 'h', project: 'p', amounts: { secrets: 1 } };
    await store.reserve({ ...reservation, defaults: { secrets: 1 }, ttlMs: 3_600_000 });
    const [rows] = await pool.query(`SELECT expires_at - unix_timestamp() * 1000 AS ms FROM ${tablePrefix}holds`);
    expect(Math.abs(Number((rows as { ms: string }[])[0]!.ms) - 3_600_000)).toBeLessThan(600_000);
    expect(await store.settle(reservation, 'commit')).toBe(true);
  });

  onServer('admits exactly the limit to 64 concurrent callers of four stores', async () => {
    const { store, tablePrefix } = await fresh();
    const others = [1, 2, 3].map(() => sqlStore({ database: mysql(pool), tablePrefix }));
    const stores = [store, ...others];
    const defaults = { secrets: 40, orders: 50 };
    const results = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        stores[index % 4]!.reserve({
          id: `h${index}`,
          project: 'p',
          amounts: index % 2 ? { secrets: 1, orders: 1 } : { orders: 1, secrets: 1 },
          defaults,
          ttlMs: 600_000,
        }),
      ),
    );
    expect(results.filter((exceeded) => exceeded.length === 0)).toHaveLength(40);
    expect(await store.counts('p')).toEqual({
      secrets: { used: 0, reserved: 40 },
      orders: { used: 0, reserved: 40 },
    });
  });

  onServer('subtracts each expired reservation only once if several stores settle and sweep', async () => {
    let now = 1_000_000;
    const { store, tablePrefix } = await fresh(() => now);
    const stores = [store, sqlStore({ database: mysql(pool), tablePrefix, clock: () => now })];
    const reservation = (index: number) => ({ id: `h${index}`, project: `p${index % 2}`, amounts: { secrets: 1 } });
    const numbers = Array.from({ length: 40 }, (_, index) => index);
    const reserve = (index: number) =>
      stores[index % 2]!.reserve({ ...reservation(index), defaults: { secrets: -1 }, ttlMs: index % 4 ? 100 : 1000 });
    await Promise.all(numbers.map(reserve));
    now += 500;
    const settled = numbers.map((index) => stores[(index + 1) % 2]!.settle(reservation(index), 'commit'));
    const [outcomes] = await Promise.all([Promise.all(settled), ...stores.map((one) => one.sweep())]);
    expect(outcomes).toEqual(numbers.map((index) => index % 4 === 0));
    const counters = await rowsOf(`${tablePrefix}counters`);
    expect(counters.map(({ used, reserved }) => [used, reserved])).toEqual([
      [10, 0],
      [0, 0],
    ]);
  });

  onServer('distinguishes projects by case, accents, spaces and quotes', async () => {
    const { store } = await fresh();
    const names = ['a', 'A', 'a ', 'á', "it's", 'back\\slash', '"; --', '\u{1f600}'.repeat(256)];
    for (const [number, project] of names.entries()) {
      const reservation = { id: `${number}`, project, amounts: { secrets: number + 1 } };
      expect(await store.reserve({ ...reservation, defaults: { secrets: 20 }, ttlMs: 60_000 })).toEqual([]);
      await store.setLimits(project, { secrets: number });
      expect(await store.settle(reservation, 'commit')).toBe(true);
    }
    const found = await Promise.all(names.map(async (name) => (await store.counts(name)).secrets?.used));
    expect(found).toEqual(names.map((_, number) => number + 1));
    const { entries } = await store.listLimits({ limit: 100, offset: 0 });
    expect(entries.map(({ project }) => project)).toEqual(names);
  });

  onServer('reads only the reservations of its project', async () => {
    const { store, tablePrefix } = await fresh();
    const reserve = (project: string, id: string) =>
      store.reserve({ id, project, amounts: { secrets: 1 }, defaults: { secrets: 1 }, ttlMs: 600_000 });
    const projects = Array.from({ length: 300 }, (_, index) => `other${index}`);
    await Promise.all(projects.map((project) => reserve(project, 'h')));
    await reserve('p', 'first');
    await pool.query(`ANALYZE TABLE ${tablePrefix}holds, ${tablePrefix}counters`);
    const readRows = async () => {
      const [rows] = await pool.query(
        `SELECT sum(variable_value) AS total FROM information_schema.global_status
         WHERE variable_name IN ('HANDLER_READ_NEXT', 'HANDLER_READ_RND_NEXT', 'HANDLER_READ_KEY')`,
      );
      return Number((rows as { total: string }[])[0]!.total);
    };
    // The status queries themselves also read rows.
    const before = await readRows();
    expect(before).toBeGreaterThan(0);
    const cost = (await readRows()) - before;
    const start = await readRows();
    expect(await reserve('p', 'second')).toHaveLength(1);
    expect(await store.settle({ id: 'first', project: 'p', amounts: { secrets: 1 } }, 'release')).toBe(true);
    expect((await readRows()) - start - cost).toBeLessThan(100);
  });

  onServer('leaves the pool usable after a failed transaction', async () => {
    const broken = sqlStore({ database: mysql(pool), tablePrefix: 'missing_' });
    for (let attempt = 0; attempt < 30; attempt++)
      await expect(broken.getLimits('p')).rejects.toThrow('missing_limits');
    expect(await (await fresh()).store.getLimits('p')).toBeUndefined();
  });
});
