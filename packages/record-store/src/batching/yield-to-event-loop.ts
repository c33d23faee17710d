const waiting: (() => void)[] = [];

/**
 * Yields to the event loop until the caller's next turn, for long computations. Regardless of how many callers wait, the event loop
 * handles other events between any two of their turns.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resumeNext);
  });
}

function resumeNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeNext);
}
