import { memoryStore, projectQuotas, type QuotaStore } from '@apistrata/quota';
import { redisStore } from '@apistrata/quota/redis';
import { postgres, type SqlDatabase, sqlite, sqlStore } from '@apistrata/quota/sql';
import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { ReservationHeap } from '../src/memory/reservation-heap.js';

const RESERVATIONS = 20_000;
const NOW = 1_700_000_000_000;

/** 20,000 active reservations in one project, and the same number of expired ones in another. */
const rows = Array.from({ length: 2 * RESERVATIONS }, (_, index) => ({
  project: index < RESERVATIONS ? 'full' : 'other',
  id: `id-${index}`,
  expiresAt: index < RESERVATIONS ? NOW + 60_000 + index : NOW - index,
}));

/** Wraps a database and records each statement. */
function noting(database: SqlDatabase) {
  const statements: { sql: string; parameters: readonly unknown[] }[] = [];
  const transaction: SqlDatabase['transaction'] = (work) =>
    database.transaction(function* () {
      const steps = work();
      let step = steps.next([]);
      while (!step.done) {
        statements.push(step.value);
        step = steps.next(yield step.value);
      }
      return step.value;
    });
  const query: SqlDatabase['query'] =
    database.query &&
    ((sql, parameters) => {
      statements.push({ sql, parameters: parameters() });
      return database.query!(sql, parameters);
    });
  return { statements, database: { ...database, transaction, query } };
}

/** Sends a request that is rejected, and reads the usage that explains it. */
async function reject(store: QuotaStore) {
  const quota = projectQuotas({
    preset: 'key-manager',
    store,
    defaults: { secrets: RESERVATIONS },
    sweepIntervalMs: 0,
  });
  await expect(quota.reserve('full', { secrets: 1 })).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  expect((await quota.usage('full')).secrets).toMatchObject({ used: 0, reserved: RESERVATIONS });
}

describe('a rejection in a project with 20,000 reservations', () => {
  it('in memory visits only expired ones', async () => {
    const store = memoryStore({ clock: () => NOW });
    let reads = 0;
    for (const { id, project, expiresAt } of rows.slice(0, RESERVATIONS)) {
      await store.reserve({ id, project, amounts: { secrets: 1 }, defaults: { secrets: -1 }, ttlMs: expiresAt - NOW });
    }
    const reservations = new ReservationHeap();
    for (const { id, expiresAt } of rows) {
      const amounts = {};
      reservations.set({
        id,
        amounts,
        get expiresAt() {
          reads++;
          return expiresAt;
        },
      });
    }
    for (let removed = 0; removed < RESERVATIONS; removed++) expect(reservations.removeExpired(NOW)).toBeDefined();
    reads = 0;
    expect(reservations.removeExpired(NOW)).toBeUndefined();
    expect(reads).toBe(1);
    expect(reservations.size).toBe(RESERVATIONS);
    await reject(store);
  });

  it('on SQLite searches by project and expiry instead of reading all', async () => {
    const connection = new Database(':memory:');
    const { statements, database } = noting(sqlite(connection));
    const store = sqlStore({ database, clock: () => NOW });
    await store.createSchema();
    const insert = connection.prepare('INSERT INTO quota_holds VALUES (?, ?, ?, ?)');
    for (const { project, id, expiresAt } of rows) insert.run(project, id, '{"secrets":1}', expiresAt);
    const counter = connection.prepare('INSERT INTO quota_counters VALUES (?, ?, 0, ?)');
    counter.run('full', 'secrets', RESERVATIONS);
    for (let index = 0; index < 1000; index++) counter.run(`project-${index}`, 'secrets', 0);
    for (const statistics of [false, true]) {
      if (statistics) connection.exec('ANALYZE');
      statements.length = 0;
      connection.exec('BEGIN');
      await reject(store);
      connection.exec('ROLLBACK');
      const plans = statements.map(({ sql, parameters }) =>
        (connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[])
          .map(({ detail }) => detail)
          .join('\n'),
      );
      expect(plans.filter((plan) => /SCAN (reservation|quota_)/.test(plan))).toEqual([]);
      expect(plans.filter((plan) => plan.includes('(project=? AND expires_at<?)')).length).toBeGreaterThanOrEqual(2);
    }
  });
});

const postgresUrl = inject('postgresUrl');

describe.skipIf(!postgresUrl)('a rejection in a project with 20,000 reservations, on PostgreSQL,', () => {
  const prefix = `cost_${process.pid}_`;
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: postgresUrl, max: 2 });
  });
  afterAll(() => pool?.end());

  interface Plan {
    readonly 'Node Type': string;
    readonly 'Relation Name'?: string;
    readonly 'Index Cond'?: string;
    readonly Plans?: readonly Plan[];
  }
  const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

  it('searches by project and expiry instead of reading all', { timeout: 60_000 }, async () => {
    const { statements, database } = noting(postgres(pool));
    // Uses the clock of the server, which is a volatile function: with a constant, any query could use an index.
    const store = sqlStore({ database, tablePrefix: prefix });
    await store.createSchema();
    await pool.query(
      `INSERT INTO ${prefix}holds SELECT item->>0, item->>1, '{"secrets":1}',
         (item->>2)::bigint - ${NOW} + extract(epoch FROM now())::bigint * 1000 FROM jsonb_array_elements($1::jsonb) AS item`,
      [JSON.stringify(rows.map(({ project, id, expiresAt }) => [project, id, expiresAt]))],
    );
    await pool.query(`INSERT INTO ${prefix}counters VALUES ('full', 'secrets', 0, ${RESERVATIONS})`);
    const statementsBefore = [...statements];
    await reject(store);
    const used = statements.slice(statementsBefore.length);
    for (const statistics of [false, true]) {
      if (statistics) await pool.query(`ANALYZE ${prefix}holds`);
      let searches = 0;
      for (const { sql, parameters } of used) {
        let position = 0;
        const text = sql.replace(/\?/g, () => `$${++position}`);
        const { rows: response } = await pool.query(`EXPLAIN (FORMAT JSON) ${text}`, [...parameters]);
        const nodes = nodesOf(response[0]['QUERY PLAN'][0].Plan);
        const reservationScans = nodes.filter((node) => node['Relation Name'] === `${prefix}holds`);
        const scans = reservationScans.filter((node) => node['Node Type'] === 'Seq Scan');
        expect(scans, text).toEqual([]);
        if (nodes.some((node) => /project.*expires_at <=/.test(node['Index Cond'] ?? ''))) searches++;
      }
      expect(searches).toBeGreaterThanOrEqual(2);
    }
  });
});

const redisUrl = inject('redisUrl');

describe.skipIf(!redisUrl)('a rejection in a project with 20,000 reservations, on Redis,', () => {
  let client: Redis;
  beforeAll(() => {
    client = new Redis(redisUrl!);
  });
  afterAll(() => client?.quit());

  /** Returns how often each command runs during a call, without commands of other clients. */
  async function commandsOf(call: readonly string[]): Promise<Record<string, number>> {
    const [command, ...args] = call as [string, ...string[]];
    const responses = await client
      .multi()
      .info('commandstats')
      .call(command, ...args)
      .info('commandstats')
      .exec();
    const [before, , after] = responses!.map(([, result]) => callsIn(String(result)));
    const names = Object.keys(after!).filter((name) => after![name] !== (before![name] ?? 0));
    return Object.fromEntries(names.map((name) => [name, after![name]! - (before![name] ?? 0)]));
  }
  const callsIn = (stats: string) =>
    Object.fromEntries(
      [...stats.matchAll(/cmdstat_(\S+?):calls=(\d+)/g)].map(([, name, calls]) => [name, Number(calls)]),
    );

  it('runs the same number of commands as with one reservation', { timeout: 60_000 }, async () => {
    const figures = [];
    for (const count of [1, RESERVATIONS]) {
      const calls: string[][] = [];
      const keyPrefix = `{cost-${process.pid}-${count}}:`;
      const recording = {
        call: (...call: [string, ...string[]]) => {
          calls.push(call);
          return client.call(...call);
        },
      };
      const store = redisStore({ client: recording, keyPrefix });
      await Promise.all(
        rows
          .slice(0, count)
          .map(({ id }) =>
            store.reserve({ id, project: 'full', amounts: { secrets: 1 }, defaults: { secrets: -1 }, ttlMs: 600_000 }),
          ),
      );
      const quota = projectQuotas({ preset: 'key-manager', store, defaults: { secrets: count } });
      await expect(quota.reserve('full', { secrets: 1 })).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
      figures.push(await commandsOf(calls.at(-1)!));
    }
    expect(figures[0]).toMatchObject({ zrangebyscore: 1 });
    expect(figures[1]).toEqual(figures[0]);
  });
});
