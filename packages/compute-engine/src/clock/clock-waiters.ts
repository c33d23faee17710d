import { onAbort } from './clock.js';

/** A pending sleep. */
export interface ClockWaiter {
  /** The clock time at which the sleep ends, in milliseconds since the epoch. */
  readonly until: number;
  readonly wake: () => void;
  /** The timer that ends the sleep if the clock advances on its own; cleared when the sleep ends. */
  timer: NodeJS.Timeout | undefined;
}

/** A clock whose time can be set. */
export interface MovableClock {
  now(): number;
  moveTo(now: number): void;
}

/**
 * The maximum number of event loop iterations to wait until code that was woken sleeps again. Each database commit of
 * that code takes one iteration.
 */
const MAX_ITERATIONS = 64;

/** All pending sleeps of a clock whose time can be set. */
export class ClockWaiters implements Iterable<ClockWaiter> {
  readonly #sleeping = new Set<ClockWaiter>();

  [Symbol.iterator](): Iterator<ClockWaiter> {
    return this.#sleeping.values();
  }

  /**
   * Resolves when the clock reaches `until`; rejects with the signal's reason if the signal is aborted first.
   * @param onAsleep called with the waiter before it can be woken
   */
  sleep(until: number, signal?: AbortSignal, onAsleep: (waiter: ClockWaiter) => void = () => {}): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const cleanUp = () => {
        clearTimeout(waiter.timer);
        this.#sleeping.delete(waiter);
        stopListening();
      };
      const stopListening = onAbort(signal, (reason) => {
        cleanUp();
        reject(reason);
      });
      const wake = () => {
        cleanUp();
        resolve();
      };
      const waiter: ClockWaiter = { until, wake, timer: undefined };
      this.#sleeping.add(waiter);
      onAsleep(waiter);
    });
  }

  /** Advances a clock to a point in time, and wakes all sleeps that end by then, in order. */
  async advance(clock: MovableClock, end: number): Promise<void> {
    const nextWaiter = () =>
      [...this.#sleeping].filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
    for (;;) {
      // Code that has just started may not be asleep yet, and code that was woken may be about to sleep again.
      await this.#yieldUntil(() => nextWaiter() !== undefined);
      const dueWaiter = nextWaiter();
      if (!dueWaiter) break;
      clock.moveTo(Math.max(clock.now(), dueWaiter.until));
      const { size } = this.#sleeping;
      dueWaiter.wake();
      await this.#yieldUntil(() => this.#sleeping.size >= size);
    }
    clock.moveTo(Math.max(clock.now(), end));
  }

  /** Yields to the event loop until a condition is true, for a limited number of iterations. */
  async #yieldUntil(condition: () => boolean): Promise<void> {
    for (let iteration = 0; iteration < MAX_ITERATIONS && !condition(); iteration++)
      await new Promise((resolve) => setImmediate(resolve));
  }
}
