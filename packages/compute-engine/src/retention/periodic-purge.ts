import type { Clock } from '../clock/clock.js';
import type { Retention } from './retention.js';

/** Interval between checks for a due purge. */
const POLL_INTERVAL_MS = 60_000;

/** Minimum interval between purges. */
const PURGE_INTERVAL_MS = 3_600_000;

/** Purges once an hour, measured by the engine's clock. Its timer does not keep the process alive. */
export class PeriodicPurge {
  readonly #retention: Retention;
  readonly #clock: Clock;
  readonly #cleanUp: () => Promise<void>;
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #lastPurgeAt: number;

  /**
   * @param cleanUp removes additional records at the same time
   */
  constructor(retention: Retention, clock: Clock, cleanUp: () => Promise<void> = async () => {}) {
    this.#retention = retention;
    this.#cleanUp = cleanUp;
    this.#clock = clock;
    this.#lastPurgeAt = clock.now();
  }

  start(onError: (error: unknown) => void): void {
    this.#timer = setInterval(() => {
      this.#running ??= this.check()
        .catch((error) => {
          if (!this.#stopping.signal.aborted) onError(error);
        })
        .finally(() => {
          this.#running = undefined;
        });
    }, POLL_INTERVAL_MS).unref();
  }

  /** Purges if the last purge was at least an hour ago. */
  async check(): Promise<void> {
    if (this.#clock.now() - this.#lastPurgeAt < PURGE_INTERVAL_MS) return;
    this.#lastPurgeAt = this.#clock.now();
    await this.#retention.purge(undefined, this.#stopping.signal);
    await this.#cleanUp();
  }

  /** Stops after the current batch. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort(new Error('the engine is closing'));
    await this.#running;
  }
}
