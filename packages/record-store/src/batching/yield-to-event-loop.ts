const waiting: (() => void)[] = [];

/**
 * Pauses a long computation so that the event loop can handle other events. If several callers wait, one of them
 * resumes per turn of the event loop.
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
