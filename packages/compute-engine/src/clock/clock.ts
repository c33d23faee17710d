/** Where all time comes from. Milliseconds since the epoch, UTC. */
export interface Clock {
  now(): number;
  /** Resolves after so many milliseconds; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Calls back with the reason when a signal is aborted; the function that it gives ends that. */
export function onAbort(signal: AbortSignal | undefined, tell: (reason: unknown) => void): () => void {
  if (!signal) return () => {};
  const listener = () => tell(signal.reason);
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/** The machine's own time. */
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
