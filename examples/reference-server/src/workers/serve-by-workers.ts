import type { Worker } from 'node:cluster';
import { constants } from 'node:os';
import type { MetricsSource } from '@apistrata/compute-router/prometheus';
import type { Logger } from 'pino';
import { announce } from '../announce.js';
import { GRACE_MS, HAND_BACK_MS } from '../end-times.js';
import { listen } from '../listen.js';
import { metricsServer } from '../metrics-server.js';
import { wantsMetrics } from '../observation.js';
import { openLog } from '../open-log.js';
import type { Options } from '../options.js';
import { checkWorkers } from './check-workers.js';
import type { GroupMetrics } from './group-metrics.js';
import type { Told } from './worker.js';
import { type GroupListener, tell, WorkerGroup } from './worker-group.js';

/** A worker ends itself in its time; one that does not even do that is killed so long after it. */
const DEAF_MS = 5_000;

/** The metrics of a group, if anybody wants them; then `prom-client` is loaded. */
async function metricsOf(options: Options, group: () => WorkerGroup): Promise<GroupMetrics | undefined> {
  if (!wantsMetrics(options)) return undefined;
  const { GroupMetrics } = await import('./group-metrics.js');
  return new GroupMetrics(() => group().serving);
}

async function monitoring(options: Options, metrics: MetricsSource | undefined) {
  const { 'metrics-port': port, 'metrics-host': host } = options;
  if (!metrics || port === undefined) return undefined;
  const { metricsHandler } = await import('@apistrata/compute-router/prometheus');
  const server = metricsServer(metricsHandler(metrics));
  return { server, url: `${await listen(server, host, port, 'metrics-')}/metrics` };
}

/**
 * Serves by `--workers` processes: this one starts them, hands them connections, replaces them when they die or at SIGHUP,
 * adds their metrics up and ends them. It has no database and serves nothing itself.
 *
 * @throws StartError
 */
export async function serveByWorkers(options: Options, { readAgain }: Told): Promise<void> {
  checkWorkers(options);
  const log = await openLog(options);
  const listener: GroupListener = {
    message(worker, message) {
      if (message.kind === 'figures') metrics?.heard(worker, message.id, message.figures);
      if (message.kind === 'metrics?')
        answer(worker, message.id).catch((error) => log.warn({ err: error }, 'a worker is not told of metrics'));
    },
    ended: (worker) => metrics?.ended(worker),
  };
  const group: WorkerGroup = new WorkerGroup(options.workers!, log, listener);
  const metrics = await metricsOf(options, () => group);

  async function answer(worker: Worker, id: number): Promise<void> {
    const text = await metrics?.metrics().catch((error) => void log.error({ err: error }, 'metrics cannot be told'));
    tell({ worker }, { kind: 'metrics', id, ...(text !== undefined && { text }) });
  }

  const monitored = await monitoring(options, metrics);
  endWithGroup(group, options, log);
  const serving = await group.start();
  // It has said why; or the end came first, which goes on by itself.
  if (typeof serving === 'number') return void group.end().then(() => process.exit(serving));
  process.on('SIGHUP', () => changeAll(group, log, readAgain));
  announce({ ...serving, metricsUrl: monitored?.url }, options);
}

/** What can change in running processes does so at once; all other options are those of the processes that replace them. */
function changeAll(group: WorkerGroup, log: Logger, readAgain: () => Options): void {
  try {
    const options = readAgain();
    checkWorkers(options);
    log.level = options['log-level'];
    for (const member of group.serving) tell(member, { kind: 'reload' });
    log.info({ workers: options.workers }, 'replacing all workers, one after the other');
    void group.roll(options.workers ?? 1);
  } catch (error) {
    log.error({ err: error }, 'nothing has changed, for the new configuration is wrong');
  }
}

/** SIGTERM and SIGINT end all workers in order, and then this process; a second one ends all at once, and so does time. */
function endWithGroup(group: WorkerGroup, options: Options, log: Logger): void {
  let ending = false;
  function killAll(code: number): never {
    group.kill();
    process.exit(code);
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      if (ending) killAll(128 + constants.signals[signal]);
      ending = true;
      log.info({ signal }, 'ending all workers; a second signal ends at once');
      setTimeout(
        () => {
          log.error('a worker does not end: it is killed');
          killAll(1);
        },
        options['drain-ms'] + GRACE_MS + HAND_BACK_MS + DEAF_MS,
      ).unref();
      process.exit(await group.end());
    });
  }
}
