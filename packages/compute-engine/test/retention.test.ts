import { randomUUID } from 'node:crypto';
import { CompiledQuery } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import { PeriodicPurge } from '../src/retention/periodic-purge.js';
import { tables } from '../src/schema/tables.js';
import { ManualClock } from '../src/testing/manual-clock.js';
import { contextOf, engineUnderTest, imageId } from './engine-under-test.js';
import { listenTo, type RecordedQuery } from './listen-to.js';
import { storesUnderTest } from './stores-under-test.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

describe.each(storesUnderTest(inject('postgresUrl')))('expired records, on $kind,', ({ kind, database }) => {
  let engine: Engine;
  let clock: ManualClock;
  const context = contextOf('p1', { isAdmin: true });

  beforeEach(async () => {
    const url = await database();
    clock = new ManualClock();
    engine = await engineUnderTest({ database: url, clock, settings: { quotas: { instances: -1 } as never } });
  });
  afterEach(() => engine.close());

  async function create(projectId = 'p1'): Promise<string> {
    const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;
    const { servers } = await engine.servers.create(contextOf(projectId), newServer);
    await engine.idle();
    return servers[0]!.id;
  }

  async function remove(id: string): Promise<void> {
    await engine.servers.delete(context, id);
    await engine.idle();
  }

  const report = async (startMs: number, endMs: number, more: object = {}) =>
    engine.usage.report({ window: { startUs: startMs * 1000, endUs: endMs * 1000 }, limit: 1000, ...more });
  const rows = async (table: string) =>
    Number(
      (
        await coreOf(engine)
          .store.db.selectFrom(table)
          .select((e) => e.fn.countAll().as('n'))
          .executeTakeFirstOrThrow()
      ).n,
    );

  it('are purged with their history, and everything else remains', async () => {
    const [deleted, retained] = [await create(), await create()];
    await clock.advance(HOUR_MS);
    await engine.consoles.open(context, await engine.servers.get(context, deleted), 'novnc');
    await remove(deleted);
    await clock.advance(89 * DAY_MS);
    expect(await engine.retention.purge()).toMatchObject({ servers: 0, actions: 0, consoleTokens: 1 });
    await clock.advance(2 * DAY_MS);
    expect(await engine.retention.purge()).toMatchObject({ servers: 1, usage: 0 });
    expect(await tables.servers.get(coreOf(engine).store, deleted)).toBeUndefined();
    expect(await engine.instanceActions.list(deleted)).toEqual([]);
    expect((await engine.servers.get(context, retained)).vmState).toBe('active');
    expect(await engine.instanceActions.list(retained)).toHaveLength(1);
    expect(await engine.retention.purge()).toEqual({
      servers: 0,
      actions: 0,
      migrations: 0,
      consoleTokens: 0,
      usage: 0,
    });
  });

  it('remain in usage reports as before, page by page, until their retention period ends', async () => {
    const start = clock.now();
    for (const projectId of ['p1', 'p2', 'p1']) await create(projectId);
    const ids = [await create(), await create('p2'), await create()];
    await clock.advance(3 * HOUR_MS);
    for (const id of ids) await remove(id);
    await clock.advance(2 * HOUR_MS);
    const end = clock.now();
    const before = await report(start, end);
    const flat = (all: typeof before) =>
      all.map((usage) => [
        usage.projectId,
        usage.totalHours,
        usage.totalMemoryMbHours,
        usage.servers.map((s) => s.hours),
      ]);
    const paged = async () => {
      const seen: string[] = [];
      for (;;) {
        const page = (await report(start, end, { limit: 2, marker: seen.at(-1) })).flatMap(({ servers }) => servers);
        if (page.length === 0) return seen;
        seen.push(...page.map(({ server }) => server.id));
      }
    };
    const pages = await paged();
    expect(pages).toHaveLength(6);
    await clock.advance(100 * DAY_MS);
    expect((await engine.retention.purge()).servers).toBe(3);
    expect(flat(await report(start, end))).toEqual(flat(before));
    expect(await paged()).toEqual(pages);
    expect(flat(await report(start, end, { projectId: 'p2' }))).toEqual(flat(before).filter(([id]) => id === 'p2'));
    expect(await report(end + 1, end + HOUR_MS, { projectId: 'p2' })).toMatchObject([{ totalHours: 1 - 1 / HOUR_MS }]);
    await clock.advance(310 * DAY_MS);
    expect((await engine.retention.purge()).usage).toBe(3);
    expect(await rows('server_usage')).toBe(0);
  });

  it('are kept until a deletion has released the resources of the server', async () => {
    const id = await create();
    await remove(id);
    await clock.advance(100 * DAY_MS);
    const record = (await tables.servers.get(coreOf(engine).store, id))!;
    await coreOf(engine).store.transaction((tx) => tables.servers.update(tx, { ...record, jobId: randomUUID() }));
    expect((await engine.retention.purge()).servers).toBe(0);
    const waiting = (await tables.servers.get(coreOf(engine).store, id))!;
    await coreOf(engine).store.transaction((tx) => tables.servers.update(tx, { ...waiting, jobId: null }));
    expect((await engine.retention.purge()).servers).toBe(1);
  });

  it('are purged in batches, concurrently with two other purges and with requests', async () => {
    const id = await create();
    await remove(id);
    const { seq: _, revision: __, ...template } = (await tables.servers.get(coreOf(engine).store, id))!;
    await coreOf(engine).store.transaction(async (tx) => {
      for (let i = 0; i < 249; i++) await tables.servers.insert(tx, { ...template, id: randomUUID() });
    });
    await clock.advance(100 * DAY_MS);
    const purges = [engine.retention.purge(), engine.retention.purge()];
    const created = await create();
    const removed = (await Promise.all(purges)).map(({ servers }) => servers);
    expect(removed[0]! + removed[1]!).toBe(250);
    expect(await rows('server_usage')).toBe(250);
    expect(await rows('servers')).toBe(1);
    expect((await engine.servers.get(context, created)).vmState).toBe('active');
  });

  it('are purged once an hour by the clock of the engine', async () => {
    await remove(await create());
    const purge = new PeriodicPurge(engine.retention, clock);
    await clock.advance(HOUR_MS - 1);
    await purge.check();
    expect(await rows('servers')).toBe(1);
    await clock.advance(91 * DAY_MS);
    await purge.check();
    expect(await rows('servers')).toBe(0);
    await remove(await create());
    await clock.advance(30 * 60_000);
    await purge.check();
    expect(await rows('servers')).toBe(1);
  });

  it('are found by an index, like the rows of a report, with and without statistics', async () => {
    const id = await create();
    await remove(id);
    const { db } = coreOf(engine).store;
    const run = async (text: string, parameters: readonly unknown[] = []) =>
      (await db.executeQuery(CompiledQuery.raw(text, [...parameters]))).rows;
    const columns = 'revision, data, project_id, user_id, deleted, created_at, launched_at';
    const numbers =
      kind === 'SQLite'
        ? 'with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 20000)'
        : 'with numbers as (select generate_series(1, 20000) as n)';
    await run(`
      insert into servers (id, terminated_at, ${columns})
      ${numbers} select 'id-' || n, n * 1000, ${columns} from numbers cross join servers where id = '${id}'`);
    const requested: RecordedQuery[] = [];
    listenTo(db, 'own', requested);
    await engine.retention.purge({ deletedBefore: 9 });
    await report(19_900_000, clock.now() + 1);
    await report(19_900_000, clock.now() + 1, { projectId: 'p1' });
    const queries = requested.map(({ query }) => query).filter(({ sql }) => /^\s*select\b.*terminated_at/s.test(sql));
    expect(queries).toHaveLength(3);
    for (const statistics of [false, true]) {
      if (statistics) await run('analyze');
      const indexes: unknown[] = [];
      for (const { sql, parameters } of queries) {
        const plan = JSON.stringify(
          await run(`${kind === 'SQLite' ? 'explain query plan' : 'explain'} ${sql}`, parameters),
        );
        expect(plan).not.toMatch(/SCAN servers(?! USING INDEX servers_running)|Seq Scan on servers\b/);
        indexes.push([...new Set(plan.match(/\bservers_(running|ended)/g))].sort());
      }
      const both = ['servers_ended', 'servers_running'];
      expect(indexes).toEqual([['servers_ended'], both, both]);
    }
  });
});
