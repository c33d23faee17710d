import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Observation } from './observation.js';

/** Time that the last traces have to be sent; a collector that is away must not hold up the end. */
const FLUSH_MS = 3_000;

/** Sends the traces that wait for their batch to be full: nobody would send them later. */
export async function sendTraces({ traces }: Observation, log: Logger): Promise<void> {
  if (!traces) return;
  const late = pause(FLUSH_MS, undefined, { ref: false }).then(() => {
    throw new Error(`nobody took them within ${FLUSH_MS} ms`);
  });
  await Promise.race([traces.flush(), late]).catch((error: Error) =>
    log.warn({ err: error }, 'the last traces could not be sent'),
  );
}
