/** The source of the current time and of delays. */
export interface Clock {
  /** Returns the current time in milliseconds since the epoch. */
  now(): number;
  /** Resolves after a number of milliseconds; rejects with the signal's reason if the signal is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Calls `call` with the abort reason when the signal is aborted. Returns a function that unsubscribes. */
export function onAbort(signal: AbortSignal | undefined, call: (reason: unknown) => void): () => void {
  if (!signal) return () => {};
  const listener = () => call(signal.reason);
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/** The system clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = setTimeout(() => {
        stopListening();
        resolve();
      }, ms);
      const stopListening = onAbort(signal, (reason) => {
        clearTimeout(timer);
        reject(reason);
      });
    }),
};
