import type { Options } from '../options.js';
import { reload } from '../reload.js';
import { serve } from '../serve.js';
import { shutDownGracefully } from '../shut-down-gracefully.js';
import { CombinedMetrics } from './combined-metrics.js';
import type { PrimaryMessage, WorkerMessage } from './messages.js';

/** The environment variables of the program, and the function that reads its options again. */
export interface WorkerContext {
  readonly environment: NodeJS.ProcessEnv;
  /** @throws StartError */
  readonly rereadOptions: () => Options;
}

/** Sends a message to the primary process. Resolves when the message is sent or the channel is closed. */
function sendToPrimary(message: WorkerMessage): Promise<void> {
  return new Promise((done) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => done());
    else done();
  });
}

/** Serves requests as one of several workers, until the primary process ends this one. @throws StartError */
export async function serveAsWorker(options: Options, { environment, rereadOptions }: WorkerContext): Promise<void> {
  const combinedMetrics = new CombinedMetrics((id) => void sendToPrimary({ kind: 'requestAllMetrics', id }));
  const running = await serve(options, environment, combinedMetrics);
  const { log, metrics } = running;

  async function sendMetrics(id?: number): Promise<void> {
    try {
      const workerMetrics = metrics ? await metrics.register.getMetricsAsJSON() : [];
      await sendToPrimary({ kind: 'workerMetrics', ...(id !== undefined && { id }), metrics: workerMetrics });
    } catch (error) {
      log.error({ err: error }, 'sending metrics to the main process failed');
    }
  }
  const sendMetricsAfter = (stop: () => Promise<void>) => () => stop().finally(() => sendMetrics());
  const shutdownControl = shutDownGracefully({ ...running, stop: sendMetricsAfter(running.stop) });
  const messageHandlers: {
    readonly [Kind in PrimaryMessage['kind']]: (message: Extract<PrimaryMessage, { kind: Kind }>) => unknown;
  } = {
    end: () => shutdownControl.end(),
    retire: () => shutdownControl.endAfter(sendMetricsAfter(running.retire)),
    reload: () => reload(running, rereadOptions),
    requestWorkerMetrics: ({ id }) => sendMetrics(id),
    metrics: ({ id, text }) => combinedMetrics.handleResponse(id, text),
  };
  process.on('message', (message: PrimaryMessage) =>
    (messageHandlers[message.kind] as (message: PrimaryMessage) => unknown)?.(message),
  );
  process.on('SIGHUP', () => reload(running, rereadOptions));
  await sendToPrimary({ kind: 'serving', url: running.url, database: running.database });
}
