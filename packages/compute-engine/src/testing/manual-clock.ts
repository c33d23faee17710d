import type { Clock } from '../clock/clock.js';
import { type MovableClock, Sleepers } from '../clock/sleepers.js';

/** A clock that moves only when told to: for tests that must see a state between two steps. */
export class ManualClock implements Clock, MovableClock {
  #now: number;
  readonly #sleepers = new Sleepers();

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#sleepers.sleep(this.#now + ms, signal);
  }

  /** Moves time on and wakes, in order, everybody whose time has come. */
  advance(ms: number): Promise<void> {
    return this.#sleepers.advance(this, this.#now + ms);
  }

  /** Sets the time, and wakes nobody. */
  moveTo(now: number): void {
    this.#now = now;
  }
}
