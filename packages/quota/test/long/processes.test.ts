import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectQuotas } from '@apistrata/quota';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { mariadbUrl } from '../every-store.js';
import {
  killWorkers,
  type RestartableServer,
  restartableMariadb,
  restartablePostgres,
  restartableRedis,
  type SharedStore,
  secretsOf,
  sharedMariadb,
  sharedPostgres,
  sharedRedis,
  startWorkers,
} from '../shared-store.js';

const LIMIT = 1000;
const PROCESSES = 8;
const LANES = 64;
/** Longer than the time-to-live of every reservation. */
const AHEAD_MS = 120_000;
const TIMEOUT_MS = 120_000;
/** On a busy machine a running store may respond late; that must not count as unavailable. */
const PATIENT_MS = 60_000;

/** Workers run the built package, which must match the sources. */
beforeAll(() => {
  const root = join(import.meta.dirname, '../../../..');
  const tsc = join(root, 'node_modules/typescript7/bin/tsc');
  execFileSync(process.execPath, [tsc, '-b', 'packages/quota'], { cwd: root, stdio: 'inherit' });
});

afterEach(killWorkers);

const sum = (counts: readonly (number | undefined)[]) =>
  counts.reduce<number>((total, count) => total + (count ?? 0), 0);
const quotaOn = (shared: SharedStore, aheadMs?: number) =>
  projectQuotas({ preset: 'key-manager', store: shared.open(aheadMs), defaults: { secrets: LIMIT } });

/** Expects that no reservation counts after expiry, and that exactly the remaining amount can be taken. */
async function expectExactRemaining(shared: SharedStore, project: string) {
  const later = quotaOn(shared, AHEAD_MS);
  const { used, reserved } = await secretsOf(later, project);
  expect(reserved).toBe(0);
  expect(used).toBeLessThanOrEqual(LIMIT);
  if (used < LIMIT) await later.consume(project, { secrets: LIMIT - used });
  await expect(later.consume(project, { secrets: 1 })).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  expect(await secretsOf(later, project)).toEqual({ used: LIMIT, reserved: 0 });
}

const stores = [
  ['PostgreSQL', inject('postgresUrl'), () => inject('postgresUrl'), sharedPostgres, restartablePostgres],
  ['MariaDB', inject('mariadbStarter'), mariadbUrl, sharedMariadb, restartableMariadb],
  ['Redis', inject('redisUrl'), () => inject('redisUrl'), sharedRedis, restartableRedis],
] as const;

describe.each(stores)('many processes on one %s', (_name, here, url, share, startCrashable) => {
  describe.skipIf(!here)('while it runs', () => {
    let shared: SharedStore;
    beforeAll(async () => {
      shared = await share(await url());
    });
    afterAll(() => shared?.close());

    it('admit exactly the limit over HTTP, and release everything', { timeout: TIMEOUT_MS }, async () => {
      const job = {
        ...shared.job,
        via: 'http',
        project: 'all',
        lanes: LANES,
        limit: LIMIT,
        untilMs: 60_000,
        untilRefused: true,
        storeTimeoutMs: PATIENT_MS,
        release: true,
      };
      const workers = await startWorkers(PROCESSES, job);
      const responses = await Promise.all(workers.map((worker) => worker.next('statuses')));
      expect(sum(responses.map((statuses) => statuses[201]))).toBe(LIMIT);
      expect(sum(responses.map((statuses) => statuses[403]))).toBe(PROCESSES * LANES);
      expect(Object.keys(Object.assign({}, ...responses)).sort()).toEqual(['201', '403']);

      const quota = quotaOn(shared);
      const usage = (used: number) => async () => expect(await secretsOf(quota, 'all')).toEqual({ used, reserved: 0 });
      await eventually(usage(LIMIT));
      for (const worker of workers) worker.send({ release: true });
      const ended = await Promise.all(workers.map((worker) => worker.next('statuses')));
      expect(sum(ended.map((statuses) => statuses[204]))).toBe(LIMIT);
      await eventually(usage(0));
      await killWorkers();
    });

    it('neither leak usage nor exceed the limit when they are killed at random', { timeout: TIMEOUT_MS }, async () => {
      const job = { ...shared.job, via: 'direct', project: 'killed', lanes: LANES, limit: LIMIT };
      const workers = await startWorkers(PROCESSES, { ...job, untilMs: 20_000, storeTimeoutMs: PATIENT_MS });
      const killed = workers.slice(0, 5);
      const survivors = workers.slice(5);
      await Promise.all(
        killed.map(async (worker) => {
          await sleep(20 + Math.random() * 150);
          await worker.kill();
        }),
      );
      await Promise.all(survivors.map((worker) => worker.next('done')));
      await killWorkers();

      const confirmed = sum(workers.map(({ committed }) => committed));
      const now = await secretsOf(quotaOn(shared), 'killed');
      expect(confirmed).toBeGreaterThan(0);
      expect(now.used).toBeGreaterThanOrEqual(confirmed);
      expect(now.used + now.reserved).toBeLessThanOrEqual(LIMIT);
      await expectExactRemaining(shared, 'killed');
    });
  });

  describe.skipIf(!here)('after a crash and restart', () => {
    let server: RestartableServer | undefined;
    let shared: SharedStore;
    beforeAll(async () => {
      server = await startCrashable();
      await server!.start();
      shared = await share(server!.url);
    });
    afterAll(async () => {
      await server?.crash();
      await shared?.close().catch(() => undefined);
      await server?.remove();
    });

    it('respond with 503 during an outage, and count exactly what they admitted', { timeout: TIMEOUT_MS }, async () => {
      const quota = quotaOn(shared);
      await quota.set('crashed', { secrets: 300 });
      const job = { ...shared.job, via: 'http', project: 'crashed', lanes: LANES, limit: LIMIT, storeTimeoutMs: 1_000 };
      const workers = await startWorkers(PROCESSES, { ...job, workMs: 30, untilMs: 8_000 });
      await sleep(60);
      await server!.crash();
      // Longer than the store timeout of the workers.
      await sleep(1_500);
      await server!.start();
      // The second crash happens while the raised limit is being used up.
      await eventually(() => quota.set('crashed', { secrets: LIMIT }));
      await sleep(30);
      await server!.crash();
      await server!.start();

      const results = await Promise.all(workers.map((worker) => worker.next('statuses')));
      // A busy machine may not reach the limit in this time; the rest is taken below.
      const statuses = Object.keys(Object.assign({}, ...results));
      expect(statuses).toEqual(expect.arrayContaining(['201', '503']));
      expect(statuses.filter((status) => !['201', '403', '503'].includes(status))).toEqual([]);
      const admitted = sum(results.map((statuses) => statuses[201]));
      expect(admitted).toBeLessThanOrEqual(LIMIT);
      // Commits that the crash interrupted are retried until they succeed.
      await eventually(async () => expect((await secretsOf(quota, 'crashed')).used).toBe(admitted));
      await killWorkers();
      await expectExactRemaining(shared, 'crashed');
    });
  });
});
