import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { type PostgresPair, startPostgresPair } from '../../../testing/postgres-pair.js';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import type { EngineOptions } from '../src/engine/engine-options.js';
import { contextOf, engineUnderTest, imageId } from './engine-under-test.js';

/** One of several processes that share a database. */
interface Process {
  readonly engine: Engine;
  /** Reads the names of a project's servers, and returns which database served them. */
  names(projectId: string): Promise<{ names: readonly string[]; by: 'replica' | 'primary' }>;
}

describe.skipIf(!inject('postgresUrl'))('replicas for read-only requests', () => {
  let pair: PostgresPair;

  beforeAll(async () => {
    pair = await startPostgresPair(false);
  });

  afterAll(() => pair?.stop());

  async function started(options: EngineOptions = {}): Promise<Process> {
    let replica: string | undefined;
    const engine = await engineUnderTest({
      database: pair.primaryUrl,
      databaseRead: [pair.standbyUrl],
      maxStalenessMs: 60_000,
      observer: { reading: (notified) => void (replica = notified.replica) },
      ...options,
    });
    onTestFinished(() => engine.close());
    async function names(projectId: string) {
      const context = contextOf(projectId);
      const reading = await engine.reading(context.caller);
      const by = replica === undefined ? ('primary' as const) : ('replica' as const);
      expect(reading === engine).toBe(by === 'primary');
      const servers = await reading.servers.list(context, { limit: 10 });
      return { names: servers.map(({ name }) => name), by };
    }
    return { engine, names };
  }

  async function boot({ engine }: Process, projectId: string, name: string): Promise<string> {
    const request = { name, flavorId: '1', imageId, networks: 'none' as const };
    const { servers } = await engine.servers.create(contextOf(projectId), request);
    await engine.idle();
    return servers[0]!.id;
  }

  const caughtUp = (process: Process, projectId: string, names: readonly string[]) =>
    eventually(async () => expect(await process.names(projectId)).toEqual({ names, by: 'replica' }));

  it('show each write to its caller in any process, while other callers continue to read from them', async () => {
    const [one, other] = [await started(), await started({ worker: false })];
    const id = await boot(one, 'p1', 'before');
    await boot(one, 'p2', 'foreign');
    for (const process of [one, other]) {
      await caughtUp(process, 'p1', ['before']);
      await caughtUp(process, 'p2', ['foreign']);
    }
    pair.pauseReplay();
    try {
      await one.engine.servers.update(contextOf('p1'), id, { name: 'after' });
      expect(await other.names('p1')).toEqual({ names: ['after'], by: 'primary' });
      expect(await one.names('p1')).toEqual({ names: ['after'], by: 'primary' });
      for (const process of [one, other])
        expect(await process.names('p2')).toEqual({ names: ['foreign'], by: 'replica' });
      // A caller who changes another project's resources must also see that change.
      await other.engine.servers.update(contextOf('p3', { isAdmin: true }), id, { name: 'by an administrator' });
      for (const process of [one, other]) {
        expect(await process.names('p3')).toEqual({ names: [], by: 'primary' });
        expect((await process.names('p1')).names).toEqual(['by an administrator']);
      }
    } finally {
      pair.resumeReplay();
    }
    for (const process of [one, other]) await caughtUp(process, 'p1', ['by an administrator']);
  });

  it('are not used while their lag exceeds the limit, and are used again afterwards', async () => {
    const process = await started({ maxStalenessMs: 1_000 });
    await boot(process, 'p4', 'web');
    await caughtUp(process, 'p4', ['web']);
    pair.pauseReplay();
    try {
      // Only a write makes the replica fall behind.
      await boot(process, 'p5', 'other');
      await eventually(async () => expect((await process.names('p4')).by).toBe('primary'));
      expect(await process.names('p4')).toEqual({ names: ['web'], by: 'primary' });
    } finally {
      pair.resumeReplay();
    }
    await caughtUp(process, 'p4', ['web']);
  });

  it.each([
    [
      'flavors',
      ({ flavors }: Engine) => flavors.create({ id: 'new', name: 'new', vcpus: 1, memoryMb: 64, diskGb: 1 }),
      async ({ flavors }: Engine) => (await flavors.get(contextOf('p6'), 'new')).memoryMb,
    ],
    [
      'limits',
      ({ quotas }: Engine) => quotas.setClass('default', { cores: 64 }),
      async ({ quotas }: Engine) => (await quotas.limits({ projectId: 'p6' })).cores,
    ],
  ])('show current data that all projects share: %s', async (_what, change, read) => {
    const process = await started();
    await boot(process, 'p6', 'web');
    await eventually(async () => expect((await process.names('p6')).by).toBe('replica'));
    pair.pauseReplay();
    try {
      await change(process.engine);
      const reading = await process.engine.reading(contextOf('p6').caller);
      expect(await read(reading)).toBe(64);
      expect((await process.names('p6')).by).toBe('primary');
    } finally {
      pair.resumeReplay();
    }
  });

  it('fail no request if one of them is killed during queries, and are used again when it returns', async () => {
    const process = await started();
    await boot(process, 'p7', 'web');
    await caughtUp(process, 'p7', ['web']);
    let stopped = false;
    const requested: string[] = [];
    const reads = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!stopped) {
          const { names, by } = await process.names('p7');
          requested.push(`${by}: ${names}`);
        }
      }),
    );
    try {
      await eventually(() => expect(requested.length).toBeGreaterThan(20));
      await pair.killStandby();
      const { length } = requested;
      await eventually(() => expect(requested.slice(length)).toContain('primary: web'));
      const { healthy, reason } = await process.engine.health.replicas();
      expect({ healthy, reason }).toEqual({ healthy: false, reason: expect.stringContaining('127.0.0.1') });
    } finally {
      await pair.startStandby();
    }
    const { length } = requested;
    await eventually(() => expect(requested.slice(length)).toContain('replica: web'));
    stopped = true;
    await reads;
    expect(new Set(requested)).toEqual(new Set(['replica: web', 'primary: web']));
    const states = await process.engine.statistics.replicas();
    expect(states).toEqual([
      { name: expect.stringMatching(/^127\.0\.0\.1:\d+\/postgres$/), staleMs: expect.any(Number), failure: undefined },
    ]);
  });

  it('leave queries that conflict with the replay to the primary', async () => {
    const failed: string[] = [];
    const process = await started({
      observer: { statement: (reported) => void (reported.failed && failed.push(reported.name)) },
    });
    await boot(process, 'p9', 'web');
    const { replicas, db } = coreOf(process.engine).store;
    const [replica] = replicas?.replicas ?? [];
    // This query is slow only on the replica, where the test interrupts it.
    const query = sql<{ n: number }>`select count(*)::int as n,
      pg_sleep(case when pg_is_in_recovery() then 60 else 0 end) from servers where name = 'web'`;
    const activity = sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
      where state = 'active' and query like '%pg_sleep(case%' and pid <> pg_backend_pid()`;
    await eventually(async () =>
      expect((await process.engine.reading({ projectId: 'p9', userId: '' })) === process.engine).toBe(false),
    );
    const responded = query.execute(replica!.session.db);
    await eventually(async () => expect((await activity.execute(replica!.session.db)).rows).toEqual([{ n: 1 }]));
    for (const statement of [
      'create table junk (n int)',
      'insert into junk values (1)',
      'delete from junk',
      'vacuum junk',
    ])
      await sql.raw(statement).execute(db);
    const { rows } = await responded;
    expect(rows[0]).toMatchObject({ n: expect.any(Number) });
    expect(failed).toEqual(['select servers']);
    expect(replica!.failure).toBeUndefined();
  });

  it('are rejected if they belong to another database or were promoted', async () => {
    const unrelated = await started({ databaseRead: [inject('postgresUrl')] });
    await boot(unrelated, 'p8', 'web');
    await eventually(async () =>
      expect(await unrelated.engine.health.replicas()).toEqual({
        healthy: false,
        reason: expect.stringMatching(/: The replica is a copy of another database\.$/),
      }),
    );
    expect((await unrelated.names('p8')).by).toBe('primary');
    const process = await started();
    await caughtUp(process, 'p8', ['web']);
    await pair.promote();
    await boot(process, 'p8', 'new');
    expect(await process.names('p8')).toEqual({ names: ['new', 'web'], by: 'primary' });
    const { healthy, reason } = await process.engine.health.replicas();
    expect({ healthy, reason }).toEqual({
      healthy: false,
      reason: expect.stringMatching(/: The replica does not follow the primary, or was promoted\.$/),
    });
  });
});

describe('engines without PostgreSQL', () => {
  it('reject databaseRead, and reject replica URLs that are not PostgreSQL', async () => {
    await expect(engineUnderTest({ databaseRead: ['postgres://a/b'] })).rejects.toThrow(
      'createEngine(): databaseRead requires a PostgreSQL database',
    );
    await expect(engineUnderTest({ database: 'postgres://a/b', databaseRead: ['file.db'] })).rejects.toThrow(
      'createEngine(): databaseRead must be a list of URLs like postgres://...',
    );
  });
});
