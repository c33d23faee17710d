import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Duration of a slice, in milliseconds. */
const SLICE_MS = 8;

/** Performs the steps of a computation. Yields to the event loop after each slice, so that other requests are served. */
export async function inSlices(steps: Iterable<void>): Promise<void> {
  let end = performance.now() + SLICE_MS;
  for (const _ of steps) {
    if (performance.now() < end) continue;
    await yieldToEventLoop();
    end = performance.now() + SLICE_MS;
  }
}
