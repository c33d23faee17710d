import type { Worker } from 'node:cluster';
import { constants } from 'node:os';
import type { MetricsSource } from '@apistrata/compute-router/prometheus';
import type { Logger } from 'pino';
import { listen } from '../listen.js';
import { createMetricsServer } from '../metrics-server.js';
import { areMetricsRequested } from '../observation.js';
import { openLog } from '../open-log.js';
import type { Options } from '../options.js';
import { IN_FLIGHT_GRACE_MS, RELEASE_LEASES_MS } from '../shutdown-times.js';
import { printStartupMessage } from '../startup-message.js';
import { checkWorkers } from './check-workers.js';
import type { GroupMetrics } from './group-metrics.js';
import type { WorkerContext } from './worker.js';
import { type GroupListener, sendToWorker, WorkerGroup } from './worker-group.js';

/** A worker that has not exited this long after its shutdown timeout is killed. */
const KILL_DELAY_MS = 5_000;

/** Creates the aggregated metrics of a worker group, and loads `prom-client`, if metrics are enabled. */
async function createGroupMetrics(options: Options, group: () => WorkerGroup): Promise<GroupMetrics | undefined> {
  if (!areMetricsRequested(options)) return undefined;
  const { GroupMetrics } = await import('./group-metrics.js');
  return new GroupMetrics(() => group().serving);
}

async function openMonitoring(options: Options, metrics: MetricsSource | undefined) {
  const { 'metrics-port': port, 'metrics-host': host } = options;
  if (!metrics || port === undefined) return undefined;
  const { metricsHandler } = await import('@apistrata/compute-router/prometheus');
  const server = createMetricsServer(metricsHandler(metrics));
  return { server, url: `${await listen(server, host, port, 'metrics-')}/metrics` };
}

/**
 * Serves requests with the number of workers that `--workers` specifies. This process starts the workers, distributes
 * connections, replaces workers when they die or on SIGHUP, aggregates their metrics and ends them. It uses no database
 * and serves nothing itself.
 *
 * @throws StartError
 */
export async function serveByWorkers(options: Options, { rereadOptions }: WorkerContext): Promise<void> {
  checkWorkers(options);
  const log = await openLog(options);
  const listener: GroupListener = {
    message(worker, message) {
      if (message.kind === 'workerMetrics') metrics?.storeMetrics(worker, message.id, message.metrics);
      if (message.kind === 'requestAllMetrics')
        sendMetrics(worker, message.id).catch((error) =>
          log.warn({ err: error }, 'sending metrics to a worker failed'),
        );
    },
    ended: (worker) => metrics?.handleWorkerExit(worker),
  };
  const group: WorkerGroup = new WorkerGroup(options.workers ?? 1, log, listener);
  const metrics = await createGroupMetrics(options, () => group);

  async function sendMetrics(worker: Worker, id: number): Promise<void> {
    const text = await metrics
      ?.metrics()
      .catch((error) => void log.error({ err: error }, 'collecting metrics of the workers failed'));
    sendToWorker({ worker }, { kind: 'metrics', id, ...(text !== undefined && { text }) });
  }

  const monitoringServer = await openMonitoring(options, metrics);
  endGroupOnSignals(group, options, log);
  const serving = await group.start();
  // The first worker could not start and has logged the reason, or a shutdown is in progress.
  if (typeof serving === 'number') return void group.end().then(() => process.exit(serving));
  process.on('SIGHUP', () => reloadAll(group, log, rereadOptions));
  printStartupMessage({ ...serving, metricsUrl: monitoringServer?.url }, options);
}

/**
 * Applies options that can change at run time immediately; all others apply to the new processes that replace the
 * workers.
 */
function reloadAll(group: WorkerGroup, log: Logger, rereadOptions: () => Options): void {
  try {
    const options = rereadOptions();
    checkWorkers(options);
    log.level = options['log-level'];
    for (const member of group.serving) sendToWorker(member, { kind: 'reload' });
    log.info({ workers: options.workers }, 'replacing all workers, one at a time');
    void group.replaceWorkers(options.workers ?? 1);
  } catch (error) {
    log.error({ err: error }, 'the new configuration is invalid and was not applied');
  }
}

/**
 * On SIGTERM and SIGINT, ends all workers gracefully, and then this process; a second signal or a timeout ends all
 * immediately.
 */
function endGroupOnSignals(group: WorkerGroup, options: Options, log: Logger): void {
  let isEnding = false;
  function killAll(code: number): never {
    group.kill();
    process.exit(code);
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      if (isEnding) killAll(128 + constants.signals[signal]);
      isEnding = true;
      log.info({ signal }, 'stopping all workers; a second signal stops them immediately');
      setTimeout(
        () => {
          log.error('a worker did not exit: killing it');
          killAll(1);
        },
        options['drain-ms'] + IN_FLIGHT_GRACE_MS + RELEASE_LEASES_MS + KILL_DELAY_MS,
      ).unref();
      process.exit(await group.end());
    });
  }
}
