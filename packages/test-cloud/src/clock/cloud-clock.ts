import type { Clock } from '@apistrata/compute-engine';
import { type ClockWaiter, ClockWaiters, type MovableClock } from '@apistrata/compute-engine/testing';
import { durationMs } from './duration.js';

/** The clock of a cloud: it runs at normal speed, can be frozen, and can be advanced. */
export class CloudClock implements Clock, MovableClock {
  /** The offset from the system time while the clock runs. */
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

  /** Freezes the clock; only `advance` moves it. */
  freeze(): void {
    if (this.frozen) return;
    this.#frozenAt = this.now();
    for (const { timer } of this.#sleepers) clearTimeout(timer);
  }

  /** Resumes from the frozen time. */
  run(): void {
    if (this.#frozenAt === undefined) return;
    this.#aheadMs = this.#frozenAt - Date.now();
    this.#frozenAt = undefined;
    for (const waiter of this.#sleepers) this.#schedule(waiter);
  }

  /** Advances the time by `'5m'`, `'90s'`, ... and wakes, in order, all waiters whose time has been reached. */
  async advance(duration: string | number): Promise<void> {
    await this.#sleepers.advance(this, this.now() + durationMs(duration));
  }

  /** Sets the time, possibly to an earlier one, when a state is restored. */
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
