const waitingCallers: (() => void)[] = [];

/**
 * Pauses a long computation so that the event loop can handle other events. If several callers wait, one of them
 * resumes per turn of the event loop.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (waitingCallers.push(resolve) === 1) setImmediate(resumeNext);
  });
}

function resumeNext(): void {
  waitingCallers.shift()?.();
  if (waitingCallers.length > 0) setImmediate(resumeNext);
}
