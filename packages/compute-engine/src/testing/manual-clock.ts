import type { Clock } from '../clock/clock.js';
import { ClockWaiters, type MovableClock } from '../clock/clock-waiters.js';

/** A clock that advances only on request, for tests that observe states between two steps. */
export class ManualClock implements Clock, MovableClock {
  #now: number;
  readonly #sleepers = new ClockWaiters();

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#sleepers.sleep(this.#now + ms, signal);
  }

  /** Advances the time and wakes all due sleeps, in order. */
  advance(ms: number): Promise<void> {
    return this.#sleepers.advance(this, this.#now + ms);
  }

  /** Sets the time without waking sleeping callers. */
  moveTo(now: number): void {
    this.#now = now;
  }
}
