const waiting: (() => void)[] = [];

/**
 * Waits for the caller's next turn, for long computations. However many callers wait, the event loop handles other
 * events between the turns of any two of them.
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
