import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Observation } from './observation.js';

/** The time limit for sending the last traces, so that an unavailable collector does not delay the exit. */
const FLUSH_TIMEOUT_MS = 3_000;

/** Sends the buffered traces, which would otherwise be lost. */
export async function sendTraces({ traces }: Observation, log: Logger): Promise<void> {
  if (!traces) return;
  const timeout = pause(FLUSH_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`the collector did not accept the traces within ${FLUSH_TIMEOUT_MS} ms`);
  });
  await Promise.race([traces.flush(), timeout]).catch((error: Error) =>
    log.warn({ err: error }, 'the last traces could not be sent'),
  );
}
