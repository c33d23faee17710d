import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '@apistrata/record-store';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { Guards } from '../../src/jobs/guards.js';
import { type Job, Jobs, type NewJob, retryDelayMs } from '../../src/jobs/jobs.js';
import { Payloads } from '../../src/jobs/payloads.js';
import { Worker } from '../../src/jobs/worker.js';
import { contextOf } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

const LEASE_MS = 200;
const POLL_MS = 10;

describe('the delay before a retry', () => {
  it('doubles with every failure, up to a limit', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 1000].map((attempts) => retryDelayMs(attempts, 1000))).toEqual([
      1000, 2000, 4000, 8000, 16_000, 32_000, 32_000, 32_000,
    ]);
  });
});

describe.each(storesUnderTest(inject('postgresUrl')))('background work on $kind', ({ open }) => {
  let store: Store;
  let jobs: Jobs;
  let guards: Guards;
  let close: () => Promise<void>;
  const workers: Worker[] = [];
  const errors: unknown[] = [];

  beforeEach(async () => {
    ({ store, close } = await open());
    jobs = new Jobs(store, new Payloads(undefined, { keepTokens: false }));
    guards = new Guards(jobs, { leaseMs: LEASE_MS, retryMs: 10 });
    errors.length = 0;
  });
  afterEach(async () => {
    guards.stop();
    for (const worker of workers.splice(0)) await worker.stop();
    await close();
  });

  const job = (kind: string): NewJob => ({
    id: randomUUID(),
    kind,
    serverId: null,
    payload: { context: contextOf('p1'), arguments: {} },
  });

  async function startWorker(
    run: (job: Job, signal: AbortSignal) => Promise<void>,
    options: { readonly concurrency?: number; readonly leaseMs?: number } = {},
  ): Promise<Worker> {
    const onError = (error: unknown) => errors.push(error);
    const done = async (job: Job, signal: AbortSignal) => run(job, signal).then(() => 'done' as const);
    const worker = new Worker({
      store,
      jobs,
      run: done,
      onError,
      leaseMs: LEASE_MS,
      pollMs: POLL_MS,
      retryMs: 10,
      ...options,
    });
    workers.push(worker);
    await worker.start();
    return worker;
  }

  /** A job that runs until it is aborted. */
  const forever = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

  const add = (worker: Worker, ...kinds: string[]) =>
    store.transaction(async (tx) => {
      for (const kind of kinds) await worker.add(tx, job(kind));
    });

  it('is retried after a failure, even while its worker executes another job', async () => {
    const tries: number[] = [];
    const worker = await startWorker(async ({ kind, attempts }, signal) => {
      if (kind === 'long') return forever(signal);
      tries.push(attempts);
      if (tries.length < 4) throw new Error('not yet');
    });
    await add(worker, 'long', 'short');
    await expect.poll(() => tries).toEqual([1, 2, 3, 4]);
    await expect.poll(() => worker.pending()).toBe(1);
    expect(errors).toHaveLength(3);
  });

  it('moves to another worker if the first one stops after a failure', async () => {
    const done: string[] = [];
    const first = await startWorker(() => Promise.reject(new Error('broken here')));
    await add(first, 'work');
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    await first.stop();
    await startWorker(async ({ kind }) => void done.push(kind));
    await expect.poll(() => done).toEqual(['work']);
  });

  it('remains assigned to its worker while it runs or waits, for any duration', async () => {
    const elsewhere: string[] = [];
    const busy = await startWorker((_, signal) => forever(signal), { concurrency: 1 });
    await startWorker(async ({ kind }) => void elsewhere.push(kind));
    await add(busy, 'runs', 'waits');
    await pause(4 * LEASE_MS);
    expect(elsewhere).toEqual([]);
  });

  it('is polled less often while there is none, and at the normal rate as soon as there is one', async () => {
    let ended: (() => void) | undefined;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const polls = vi.spyOn(jobs, 'claim');
      /**
       * Counts the polls within a number of shortest polling intervals. Each poll completes before the time advances.
       */
      const pollsIn = async (pauses: number) => {
        const before = polls.mock.calls.length;
        for (let pause = 0; pause < pauses; pause++) {
          await vi.advanceTimersByTimeAsync(POLL_MS);
          await Promise.all(polls.mock.results.map(({ value }) => value));
        }
        return polls.mock.calls.length - before;
      };
      const worker = await startWorker(() => new Promise((resolve) => (ended = resolve)), { leaseMs: 3_600_000 });
      await pollsIn(20);
      expect(await pollsIn(40)).toBe(10);
      await add(worker, 'a job');
      expect(await pollsIn(40)).toBe(40);
      ended?.();
      await worker.idle();
      await pollsIn(20);
      expect(await pollsIn(40)).toBe(10);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is aborted if its lease was lost', async () => {
    let ended: unknown;
    const worker = await startWorker((_, signal) =>
      forever(signal).catch((reason) => {
        ended = reason;
        throw reason;
      }),
    );
    await add(worker, 'work');
    const remote = Date.now() + 60_000;
    await store.db.updateTable('jobs').set({ lease_owner: 'another worker', lease_until: remote }).execute();
    await expect.poll(() => (ended as { code?: string })?.code).toBe('WORKER_STOPPING');
    expect(errors).toEqual([]);
    const row = await store.db.selectFrom('jobs').select(['lease_owner', 'lease_until']).executeTakeFirst();
    expect(row).toEqual({ lease_owner: 'another worker', lease_until: remote });
  });

  describe('guards of requests', () => {
    const guard = job('guard');
    const done: string[] = [];
    beforeEach(async () => {
      done.length = 0;
      await startWorker(async ({ kind }) => void done.push(kind));
      await store.transaction((tx) => guards.add(tx, guard));
    });

    it('wait for a slow request', async () => {
      const result = await guards.renewDuring(guard.id, async () => {
        await pause(4 * LEASE_MS);
        return store.transaction((tx) => guards.release(tx, guard.id));
      });
      expect([result, await jobs.count(), done]).toEqual([true, 0, []]);
    });

    it('become due after their process has ended', async () => {
      let response = () => {};
      const request = guards.renewDuring(guard.id, () => new Promise<void>((resolve) => (response = resolve)));
      // Simulates a crash: the leases are not renewed.
      guards.stop();
      await expect.poll(() => done).toEqual(['guard']);
      response();
      await request;
    });

    it('start after the request has failed, and report the start to a late request', async () => {
      await expect(guards.renewDuring(guard.id, () => Promise.reject(new Error('outage')))).rejects.toThrow('outage');
      await expect.poll(() => done).toEqual(['guard']);
      expect(await store.transaction((tx) => guards.release(tx, guard.id))).toBe(false);
    });
  });
});
