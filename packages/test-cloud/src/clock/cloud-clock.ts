import type { Clock } from '@apistrata/compute-engine';
import { type MovableClock, type Sleeper, Sleepers } from '@apistrata/compute-engine/testing';
import { durationMs } from './duration.js';

/** The time of a cloud: it runs like everybody's, stands still, and can be moved on. */
export class CloudClock implements Clock, MovableClock {
  /** What the machine's own time lacks to the cloud's, while the clock runs. */
  #aheadMs = 0;
  /** The time at which it stands still. */
  #frozenAt: number | undefined;
  readonly #sleepers = new Sleepers();

  now(): number {
    return this.#frozenAt ?? Date.now() + this.#aheadMs;
  }

  get frozen(): boolean {
    return this.#frozenAt !== undefined;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#sleepers.sleep(this.now() + ms, signal, (sleeper) => this.#schedule(sleeper));
  }

  /** Stands still from now on; only `advance` moves it. */
  freeze(): void {
    if (this.frozen) return;
    this.#frozenAt = this.now();
    for (const { timer } of this.#sleepers) clearTimeout(timer);
  }

  /** Runs on from where it stands. */
  run(): void {
    if (this.#frozenAt === undefined) return;
    this.#aheadMs = this.#frozenAt - Date.now();
    this.#frozenAt = undefined;
    for (const sleeper of this.#sleepers) this.#schedule(sleeper);
  }

  /** Moves time on by `'5m'`, `'90s'`, ... and wakes, in order, everybody whose time has come. */
  async advance(duration: string | number): Promise<void> {
    await this.#sleepers.advance(this, this.now() + durationMs(duration));
  }

  /** To a moment, perhaps back, as part of a state that is restored. */
  moveTo(now: number): void {
    if (this.#frozenAt !== undefined) {
      this.#frozenAt = now;
      return;
    }
    this.#aheadMs = now - Date.now();
    for (const sleeper of this.#sleepers) this.#schedule(sleeper);
  }

  #schedule(sleeper: Sleeper): void {
    clearTimeout(sleeper.timer);
    if (!this.frozen) sleeper.timer = setTimeout(sleeper.wake, Math.min(2 ** 31 - 1, sleeper.until - this.now()));
  }
}
