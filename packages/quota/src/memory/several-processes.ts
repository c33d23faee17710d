import cluster from 'node:cluster';

/**
 * Returns the reason why this process is probably one of several, or undefined. PM2 passes program settings to its
 * processes as environment variables; hosting platforms set `WEB_CONCURRENCY`.
 */
export function detectMultipleProcesses(
  env: NodeJS.ProcessEnv = process.env,
  isWorker = cluster.isWorker,
): string | undefined {
  if (isWorker) return 'this process is a cluster worker';
  if (Number(env.WEB_CONCURRENCY) > 1) return `WEB_CONCURRENCY is ${env.WEB_CONCURRENCY}`;
  if (env.pm_id !== undefined && env.instances !== '1') return 'this process is managed by PM2';
  return undefined;
}

let hasWarned = false;

/** Emits a warning, once, that the memory store does not share quotas between processes. */
export function warnIfMultipleProcesses(reason = detectMultipleProcesses()): void {
  if (reason === undefined || hasWarned) return;
  hasWarned = true;
  process.emitWarning(
    `memoryStore() counts only in this process, but ${reason}: each process accepts the full limit. Use sqlStore() or redisStore(), or set memoryStore({ perProcess: true }).`,
    { type: 'QuotaWarning', code: 'APISTRATA_QUOTA_PER_PROCESS' },
  );
}
