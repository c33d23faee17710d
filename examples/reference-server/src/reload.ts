import type { Options } from './options.js';
import type { RunningServer } from './serve.js';

/** Applies changed options to the running process and logs the changes; invalid options change nothing. */
export async function reload({ reload: apply, log }: RunningServer, rereadOptions: () => Options): Promise<void> {
  try {
    await apply(rereadOptions());
    log.info('policies, log level, connection limits and rate limits were reloaded');
  } catch (error) {
    log.error({ err: error }, 'the new configuration is invalid and was not applied');
  }
}
