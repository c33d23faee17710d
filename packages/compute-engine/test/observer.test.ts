import { describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { contextOf } from '../src/core/context.js';
import { createEngine } from '../src/index.js';
import type {
  EngineObserver,
  ObservedJob,
  ObservedPool,
  ObservedStatement,
  ObservedStep,
  ObservedWork,
  QuotaRejection,
} from '../src/observation/index.js';
import { storesUnderTest } from './stores-under-test.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const ada = contextOf({ userId: 'ada', projectId: 'demo', roles: ['member'] }, 'req-1');

describe.each(storesUnderTest(inject('postgresUrl')))('an observer, on $kind', ({ kind, database }) => {
  it('receives statements, connections, commits, jobs, driver commands and quota rejections', async () => {
    const statements: ObservedStatement[] = [];
    const pool: ObservedPool[] = [];
    const commits: number[] = [];
    const jobs: ObservedJob[] = [];
    const steps: ObservedStep[] = [];
    const rejected: QuotaRejection[] = [];
    const observer: EngineObserver = {
      statement: (notified) => statements.push(notified),
      pool: (reported) => pool.push(reported),
      commit: ({ transactions }) => commits.push(transactions),
      job: (event) => jobs.push(event),
      step: (event) => steps.push(event),
      overQuota: (event) => rejected.push(event),
    };
    const engine = await createEngine({
      database: await database(),
      observer,
      settings: { quotas: { instances: 4 } as never },
    });
    const names = () => new Set(statements.map(({ name }) => name));
    statements.length = 0;
    const create = () =>
      engine.servers.create(ada, { name: 's', flavorId: '1', imageId: IMAGE, networks: 'none' } as never);
    const created = await Promise.all([create(), create(), create(), create()]);
    await eventually(() => expect(jobs).toHaveLength(4));
    expect(created).toHaveLength(4);
    expect(jobs.map(({ kind: job, outcome, attempt }) => `${job} ${outcome} ${attempt}`)).toEqual(
      Array(4).fill('create done 1'),
    );
    for (const { ms, waitedMs } of jobs) expect([ms > 0, waitedMs >= 0]).toEqual([true, true]);
    expect([...names()]).toEqual(
      expect.arrayContaining(['insert servers', 'insert instance_actions', 'update nodes', 'commit']),
    );
    const insert = statements.find(({ name }) => name === 'insert servers')!;
    expect([insert.rows, insert.failed, insert.ms >= 0]).toEqual([1, false, true]);
    expect(steps.map(({ verb, outcome }) => `${verb} ${outcome}`)).toContain('spawn done');
    expect(pool.at(-1)).toMatchObject({ max: kind === 'SQLite' ? 1 : 10, busy: expect.any(Number) });
    expect(pool.some(({ waitedMs }) => waitedMs !== undefined)).toBe(true);
    // Some of the four concurrent requests share a commit.
    expect(Math.max(...commits)).toBeGreaterThan(1);

    await expect(create()).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(rejected).toEqual([
      { projectId: 'demo', userId: 'ada', exceeded: [{ kind: 'instances', requested: 1, used: 4, limit: 4 }] },
    ]);
    await engine.close();
    expect(pool.at(-1)).toMatchObject({ busy: 0, waiting: 0 });
  });

  it('may wrap jobs and driver commands, and receives their context', async () => {
    const around: ObservedWork[] = [];
    const order: string[] = [];
    const outer: EngineObserver = {
      around: async (work, run) => {
        around.push(work);
        order.push(`outer ${work.type}`);
        return run();
      },
      traceContext: () => ({ traceparent: '00-aa-bb-01' }),
    };
    const inner: EngineObserver = {
      around: async (work, run) => {
        order.push(`inner ${work.type}`);
        return run();
      },
    };
    const engine = await createEngine({ database: await database(), observer: [outer, inner] });
    await engine.servers.create(ada, { name: 's', flavorId: '1', imageId: IMAGE, networks: 'none' } as never);
    await eventually(() => expect(around.some(({ type }) => type === 'step')).toBe(true));
    await engine.close();
    expect(around[0]).toMatchObject({
      type: 'job',
      kind: 'create',
      requestId: 'req-1',
      attempt: 1,
      traceContext: { traceparent: '00-aa-bb-01' },
    });
    expect(order.slice(0, 4)).toEqual(['outer job', 'inner job', 'outer step', 'inner step']);
  });

  it('is rejected if a hook does not exist', async () => {
    const observer = { statments: () => {} } as EngineObserver;
    await expect(createEngine({ observer })).rejects.toThrow('unknown option "statments"');
  });
});
