/** Where all time comes from. Milliseconds since the epoch, UTC. */
export interface Clock {
  now(): number;
  /** Resolves after so many milliseconds; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Calls back with the reason when a signal is aborted; the function that it gives ends that. */
function onAbort(signal: AbortSignal | undefined, tell: (reason: unknown) => void): () => void {
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

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** A clock that moves only when told to: for tests that must see a state between two steps. */
export class ManualClock implements Clock {
  #now: number;
  readonly #sleepers = new Set<Sleeper>();

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stopListening = onAbort(signal, (reason) => {
        this.#sleepers.delete(sleeper);
        reject(reason);
      });
      const sleeper: Sleeper = {
        until: this.#now + ms,
        wake: () => {
          stopListening();
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
    });
  }

  /** Moves time on and wakes, in order, everybody whose time has come. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#sleepers].filter((s) => s.until <= end).sort((a, b) => a.until - b.until)[0];
      if (!due) break;
      this.#sleepers.delete(due);
      this.#now = Math.max(this.#now, due.until);
      due.wake();
      // Lets what was woken run on, and perhaps sleep again, before the next one is looked for.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = end;
  }
}
