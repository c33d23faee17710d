import type { Clock } from '../clock/clock.js';
import type { Retention } from './retention.js';

/** How often it is looked whether it is time again, and how long that is. */
const LOOK_MS = 60_000;
const PERIOD_MS = 3_600_000;

/** Purges once an hour, by the engine's clock. Never in the way of a process that wants to end. */
export class PeriodicPurge {
  readonly #retention: Retention;
  readonly #clock: Clock;
  readonly #sweep: () => Promise<void>;
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #lastAt: number;

  /** @param sweep what else is removed then */
  constructor(retention: Retention, clock: Clock, sweep: () => Promise<void> = async () => {}) {
    this.#retention = retention;
    this.#sweep = sweep;
    this.#clock = clock;
    this.#lastAt = clock.now();
  }

  start(onError: (error: unknown) => void): void {
    this.#timer = setInterval(() => {
      this.#running ??= this.look()
        .catch((error) => {
          if (!this.#stopping.signal.aborted) onError(error);
        })
        .finally(() => {
          this.#running = undefined;
        });
    }, LOOK_MS).unref();
  }

  /** Purges if an hour has gone by since the last time. */
  async look(): Promise<void> {
    if (this.#clock.now() - this.#lastAt < PERIOD_MS) return;
    this.#lastAt = this.#clock.now();
    await this.#retention.purge(undefined, this.#stopping.signal);
    await this.#sweep();
  }

  /** Ends after the batch that is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort(new Error('the engine is closing'));
    await this.#running;
  }
}
