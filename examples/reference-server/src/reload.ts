import type { Options } from './options.js';
import type { Running } from './serve.js';

/** Takes over what can be changed in a running process, and says so in the log; what is wrong changes nothing. */
export async function reload({ reload: take, log }: Running, readAgain: () => Options): Promise<void> {
  try {
    await take(readAgain());
    log.info('policies, log level, limits of connections and rate limits are read again');
  } catch (error) {
    log.error({ err: error }, 'nothing has changed, for the new configuration is wrong');
  }
}
