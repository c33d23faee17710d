/** The maximum time for which one slice of work blocks the event loop, in milliseconds. */
const SLICE_MS = 4;
/** The number of items between two readings of the clock. */
const ITEMS_PER_CLOCK_READ = 8;

const resumeQueue: (() => void)[] = [];

/**
 * Yields to the event loop. Each iteration of the loop resumes only one response, so other work runs after every slice,
 * regardless of how many responses are being rendered.
 */
function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (resumeQueue.push(resolve) === 1) setImmediate(resumeNext);
  });
}

function resumeNext(): void {
  resumeQueue.shift()?.();
  if (resumeQueue.length > 0) setImmediate(resumeNext);
}

/** Processes items until the time slice ends. Returns the index of the next item. */
function runSlice(from: number, count: number, step: (index: number) => void): number {
  const sliceEnd = performance.now() + SLICE_MS;
  for (let index = from; index < count; ) {
    step(index++);
    if (index % ITEMS_PER_CLOCK_READ === 0 && performance.now() > sliceEnd) return index;
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
 * Processes items in order, in time slices between which it yields to the event loop. Returns a promise only if more
 * than one slice is needed.
 */
export function runInSlices(count: number, step: (index: number) => void): Promise<void> | undefined {
  const done = runSlice(0, count, step);
  return done < count ? runRemainingSlices(done, count, step) : undefined;
}
