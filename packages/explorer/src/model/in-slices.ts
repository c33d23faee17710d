import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** How long a computation runs before it yields to the event loop, in milliseconds. */
const MAX_SLICE_MS = 8;

/**
 * Performs a computation in steps. Yields to the event loop every few milliseconds, so that other requests are served.
 */
export async function runInSlices(steps: Iterable<void>): Promise<void> {
  let end = performance.now() + MAX_SLICE_MS;
  for (const _ of steps) {
    if (performance.now() < end) continue;
    await yieldToEventLoop();
    end = performance.now() + MAX_SLICE_MS;
  }
}
