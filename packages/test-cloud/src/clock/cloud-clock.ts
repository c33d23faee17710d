import type { Clock } from '@apistrata/compute-engine';
import { durationMs } from './duration.js';

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
  timer: NodeJS.Timeout | undefined;
}

/** Turns of the event loop within which what was woken gets as far as its next sleep: each of its commits waits for one. */
const TURNS = 64;

/** The time of a cloud: it runs like everybody's, stands still, and can be moved on. */
export class CloudClock implements Clock {
  /** What the machine's own time lacks to the cloud's, while the clock runs. */
  #aheadMs = 0;
  /** The time at which it stands still. */
  #frozenAt: number | undefined;
  readonly #sleepers = new Set<Sleeper>();

  now(): number {
    return this.#frozenAt ?? Date.now() + this.#aheadMs;
  }

  get frozen(): boolean {
    return this.#frozenAt !== undefined;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const done = () => {
        clearTimeout(sleeper.timer);
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', stop);
      };
      const stop = () => {
        done();
        reject(signal!.reason);
      };
      const wake = () => {
        done();
        resolve();
      };
      const sleeper: Sleeper = { until: this.now() + ms, wake, timer: undefined };
      signal?.addEventListener('abort', stop, { once: true });
      this.#sleepers.add(sleeper);
      this.#schedule(sleeper);
    });
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
    const end = this.now() + durationMs(duration);
    const next = () => [...this.#sleepers].filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
    for (;;) {
      // Work that has just begun is not asleep yet, and work that was woken may be about to sleep again.
      await this.#run(() => next() !== undefined);
      const due = next();
      if (!due) break;
      this.#moveTo(Math.max(this.now(), due.until));
      const { size } = this.#sleepers;
      due.wake();
      await this.#run(() => this.#sleepers.size >= size);
    }
    this.#moveTo(Math.max(this.now(), end));
  }

  /** Lets everybody run on until something is so, for a number of turns. */
  async #run(until: () => boolean): Promise<void> {
    for (let turn = 0; turn < TURNS && !until(); turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Back to a moment, as part of a state that is restored. */
  set(now: number): void {
    this.#moveTo(now);
  }

  #moveTo(now: number): void {
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
