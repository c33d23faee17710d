/** Maximum time in milliseconds that rendering a response blocks other requests. */
const TURN_MS = 4;
/** Number of items between two readings of the clock. */
const ITEMS = 8;

const waiting: (() => void)[] = [];

/** Regardless of the number of concurrent responses, the event loop serves other work between two slices. */
function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(give);
  });
}

function give(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(give);
}

/** Processes items until the slice ends. Returns the number of processed items. */
function runSlice(from: number, count: number, step: (index: number) => void): number {
  const end = performance.now() + TURN_MS;
  for (let index = from; index < count; ) {
    step(index++);
    if (index % ITEMS === 0 && performance.now() > end) return index;
  }
  return count;
}

async function remainingSlices(from: number, count: number, step: (index: number) => void): Promise<void> {
  for (let done = from; done < count; ) {
    await yieldToEventLoop();
    done = runSlice(done, count, step);
  }
}

/**
 * Processes a number of items in order, in slices that yield to the event loop. Returns a promise only if more than one
 * slice is needed.
 */
export function runInSlices(count: number, step: (index: number) => void): Promise<void> | undefined {
  const done = runSlice(0, count, step);
  return done < count ? remainingSlices(done, count, step) : undefined;
}
