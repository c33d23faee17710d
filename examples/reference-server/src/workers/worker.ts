import type { Options } from '../options.js';
import { reload } from '../reload.js';
import { serve } from '../serve.js';
import { shutDownGracefully } from '../shut-down-gracefully.js';
import { CombinedMetrics } from './combined-metrics.js';
import type { FromWorker, ToWorker } from './messages.js';

/** The environment variables of the program, and the function that reads its options again. */
export interface WorkerContext {
  readonly environment: NodeJS.ProcessEnv;
  /** @throws StartError */
  readonly rereadOptions: () => Options;
}

/** Sends a message to the primary process. Resolves when the message is sent or the channel is closed. */
function send(message: FromWorker): Promise<void> {
  return new Promise((done) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => done());
    else done();
  });
}

/** Serves requests as one of several workers, until the primary process ends this one. @throws StartError */
export async function serveAsWorker(options: Options, { environment, rereadOptions }: WorkerContext): Promise<void> {
  const combined = new CombinedMetrics((id) => void send({ kind: 'requestMetrics', id }));
  const running = await serve(options, environment, combined);
  const { log, metrics } = running;

  async function sendMetrics(id?: number): Promise<void> {
    try {
      const figures = metrics ? await metrics.register.getMetricsAsJSON() : [];
      await send({ kind: 'figures', ...(id !== undefined && { id }), figures });
    } catch (error) {
      log.error({ err: error }, 'metrics are unavailable');
    }
  }
  const thenSendMetrics = (stop: () => Promise<void>) => () => stop().finally(() => sendMetrics());
  const ending = shutDownGracefully({ ...running, stop: thenSendMetrics(running.stop) });
  const listener: { readonly [Kind in ToWorker['kind']]: (message: Extract<ToWorker, { kind: Kind }>) => unknown } = {
    end: () => ending.end(),
    retire: () => ending.endAfter(thenSendMetrics(running.retire)),
    reload: () => reload(running, rereadOptions),
    requestFigures: ({ id }) => sendMetrics(id),
    metrics: ({ id, text }) => combined.handleResponse(id, text),
  };
  process.on('message', (message: ToWorker) => (listener[message.kind] as (message: ToWorker) => unknown)?.(message));
  process.on('SIGHUP', () => reload(running, rereadOptions));
  await send({ kind: 'serving', url: running.url, database: running.database });
}
