import { onAbort } from './clock.js';

/** Somebody who sleeps. */
export interface Sleeper {
  /** Milliseconds since the epoch, by the clock that it sleeps on. */
  readonly until: number;
  readonly wake: () => void;
  /** What wakes it by itself, on a clock that runs; ended when it wakes. */
  timer: NodeJS.Timeout | undefined;
}

/** A clock that can be moved. */
export interface MovableClock {
  now(): number;
  moveTo(now: number): void;
}

/** Turns of the event loop within which what was woken gets as far as its next sleep: each of its commits waits for one. */
const TURNS = 64;

/** Everybody who sleeps on a clock that can be moved. */
export class Sleepers implements Iterable<Sleeper> {
  readonly #sleeping = new Set<Sleeper>();

  [Symbol.iterator](): Iterator<Sleeper> {
    return this.#sleeping.values();
  }

  /**
   * Resolves when woken; rejects with the signal's reason when it is aborted first.
   * @param asleep told of the sleeper before anybody can wake it
   */
  sleep(until: number, signal?: AbortSignal, asleep: (sleeper: Sleeper) => void = () => {}): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const leave = () => {
        clearTimeout(sleeper.timer);
        this.#sleeping.delete(sleeper);
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
      const sleeper: Sleeper = { until, wake, timer: undefined };
      this.#sleeping.add(sleeper);
      asleep(sleeper);
    });
  }

  /** Moves a clock on to a moment, and wakes on the way, in order, everybody whose time has come. */
  async advance(clock: MovableClock, end: number): Promise<void> {
    const next = () => [...this.#sleeping].filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
    for (;;) {
      // Work that has just begun is not asleep yet, and work that was woken may be about to sleep again.
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

  /** Lets everybody run on until something is so, for a number of turns. */
  async #run(until: () => boolean): Promise<void> {
    for (let turn = 0; turn < TURNS && !until(); turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}
