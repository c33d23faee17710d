import { endInOrder } from '../end-in-order.js';
import type { Options } from '../options.js';
import { reload } from '../reload.js';
import { serve } from '../serve.js';
import type { FromWorker, ToWorker } from './messages.js';
import { MetricsOfAll } from './metrics-of-all.js';

/** What the program was told, and how to read it again. */
export interface Told {
  readonly environment: NodeJS.ProcessEnv;
  /** @throws StartError */
  readonly readAgain: () => Options;
}

/** Resolves when the message has left, or nobody is there to hear it. */
function say(message: FromWorker): Promise<void> {
  return new Promise((done) => {
    if (process.connected) process.send!(message, undefined, undefined, () => done());
    else done();
  });
}

/** Serves as one of several processes, until the one that keeps them says otherwise. @throws StartError */
export async function serveAsWorker(options: Options, { environment, readAgain }: Told): Promise<void> {
  const all = new MetricsOfAll((id) => void say({ kind: 'metrics?', id }));
  const running = await serve(options, environment, all);
  const { log, metrics } = running;

  async function sayFigures(id?: number): Promise<void> {
    try {
      const figures = metrics ? await metrics.register.getMetricsAsJSON() : [];
      await say({ kind: 'figures', ...(id !== undefined && { id }), figures });
    } catch (error) {
      log.error({ err: error }, 'metrics cannot be told');
    }
  }
  const lastly = (left: () => Promise<void>) => () => left().finally(() => sayFigures());
  const ending = endInOrder({ ...running, stop: lastly(running.stop) });
  const hear: { readonly [Kind in ToWorker['kind']]: (message: Extract<ToWorker, { kind: Kind }>) => unknown } = {
    end: () => ending.end(),
    retire: () => ending.endAfter(lastly(running.retire)),
    reload: () => reload(running, readAgain),
    'figures?': ({ id }) => sayFigures(id),
    metrics: ({ id, text }) => all.answered(id, text),
  };
  process.on('message', (message: ToWorker) => (hear[message.kind] as (told: ToWorker) => unknown)?.(message));
  process.on('SIGHUP', () => reload(running, readAgain));
  await say({ kind: 'serving', url: running.url, database: running.database });
}
