/** The source of all time. Milliseconds since the epoch, UTC. */
export interface Clock {
  now(): number;
  /** Resolves after a number of milliseconds; rejects with the signal's reason if it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Calls a function with the reason when a signal is aborted. Returns a function that unsubscribes. */
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
