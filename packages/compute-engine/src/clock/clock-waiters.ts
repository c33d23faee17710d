import { onAbort } from './clock.js';

/** A pending sleep. */
export interface ClockWaiter {
  /** End of the sleep in milliseconds since the epoch, by the clock on which it waits. */
  readonly until: number;
  readonly wake: () => void;
  /** The timer that ends the sleep on a running clock; cleared when it wakes. */
  timer: NodeJS.Timeout | undefined;
}

/** A clock that can be advanced. */
export interface MovableClock {
  now(): number;
  moveTo(now: number): void;
}

/**
 * The number of iterations of the event loop in which work reaches its next sleep after it was woken: each of its
 * commits waits for one iteration.
 */
const MAX_ITERATIONS = 64;

/** All pending sleeps of a clock that can be advanced. */
export class ClockWaiters implements Iterable<ClockWaiter> {
  readonly #sleeping = new Set<ClockWaiter>();

  [Symbol.iterator](): Iterator<ClockWaiter> {
    return this.#sleeping.values();
  }

  /**
   * Resolves when the time is reached; rejects with the signal's reason if it is aborted first.
   * @param asleep called with the waiter before anything can wake it
   */
  sleep(until: number, signal?: AbortSignal, asleep: (waiter: ClockWaiter) => void = () => {}): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const leave = () => {
        clearTimeout(waiter.timer);
        this.#sleeping.delete(waiter);
        stopListening();
      };
      const stopListening = onAbort(signal, (reason) => {
        leave();
        reject(reason);
      });
      const wake = () => {
        leave();
        resolve();
      };
      const waiter: ClockWaiter = { until, wake, timer: undefined };
      this.#sleeping.add(waiter);
      asleep(waiter);
    });
  }

  /** Advances a clock to a point in time, and wakes all due sleeps on the way, in order. */
  async advance(clock: MovableClock, end: number): Promise<void> {
    const next = () => [...this.#sleeping].filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
    for (;;) {
      // Work that has just started has not reached its sleep yet, and work that was woken may be about to sleep again.
      await this.#run(() => next() !== undefined);
      const due = next();
      if (!due) break;
      clock.moveTo(Math.max(clock.now(), due.until));
      const { size } = this.#sleeping;
      due.wake();
      await this.#run(() => this.#sleeping.size >= size);
    }
    clock.moveTo(Math.max(clock.now(), end));
  }

  /** Yields to the event loop until a condition is true, for a limited number of iterations. */
  async #run(until: () => boolean): Promise<void> {
    for (let turn = 0; turn < MAX_ITERATIONS && !until(); turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}
