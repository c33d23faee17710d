/** Maximum time in milliseconds for which a slice blocks other requests. */
const SLICE_MS = 4;
/** Number of items between two readings of the clock. */
const ITEMS_PER_READING = 8;

const waiting: (() => void)[] = [];

/** Yields to the event loop, which runs other work between two slices regardless of the number of concurrent responses. */
function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resumeNext);
  });
}

function resumeNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeNext);
}

/** Processes items until the slice ends. Returns the number of processed items. */
function runSlice(from: number, count: number, step: (index: number) => void): number {
  const end = performance.now() + SLICE_MS;
  for (let index = from; index < count; ) {
    step(index++);
    if (index % ITEMS_PER_READING === 0 && performance.now() > end) return index;
  }
  return count;
}

async function runRemainingSlices(from: number, count: number, step: (index: number) => void): Promise<void> {
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
  return done < count ? runRemainingSlices(done, count, step) : undefined;
}
