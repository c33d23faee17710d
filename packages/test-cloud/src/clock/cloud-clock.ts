import type { Clock } from '@apistrata/compute-engine';
import { type ClockWaiter, ClockWaiters, type MovableClock } from '@apistrata/compute-engine/testing';
import { parseDuration } from './duration.js';

/** A cloud's clock. It runs at normal speed, and tests can freeze and advance it. */
export class CloudClock implements Clock, MovableClock {
  /** The difference between this clock and the system time while this clock runs. */
  #aheadMs = 0;
  /** The time at which the clock is frozen; undefined while it runs. */
  #frozenAt: number | undefined;
  readonly #sleepers = new ClockWaiters();

  now(): number {
    return this.#frozenAt ?? Date.now() + this.#aheadMs;
  }

  get frozen(): boolean {
    return this.#frozenAt !== undefined;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#sleepers.sleep(this.now() + ms, signal, (waiter) => this.#schedule(waiter));
  }

  /** Freezes the clock. From then on, time advances only with `advance()`. */
  freeze(): void {
    if (this.frozen) return;
    this.#frozenAt = this.now();
    for (const { timer } of this.#sleepers) clearTimeout(timer);
  }

  /** Lets a frozen clock run again, from the time at which it was frozen. */
  run(): void {
    if (this.#frozenAt === undefined) return;
    this.#aheadMs = this.#frozenAt - Date.now();
    this.#frozenAt = undefined;
    for (const waiter of this.#sleepers) this.#schedule(waiter);
  }

  /** Advances the clock by `'5m'`, `'90s'`, ... and wakes all sleepers that are due by then, in chronological order. */
  async advance(duration: string | number): Promise<void> {
    await this.#sleepers.advance(this, this.now() + parseDuration(duration));
  }

  /** Sets the clock. Restoring a snapshot may set an earlier time. */
  moveTo(now: number): void {
    if (this.#frozenAt !== undefined) {
      this.#frozenAt = now;
      return;
    }
    this.#aheadMs = now - Date.now();
    for (const waiter of this.#sleepers) this.#schedule(waiter);
  }

  #schedule(waiter: ClockWaiter): void {
    clearTimeout(waiter.timer);
    if (!this.frozen) waiter.timer = setTimeout(waiter.wake, Math.min(2 ** 31 - 1, waiter.until - this.now()));
  }
}
