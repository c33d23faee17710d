/** Delays between attempts to undo an operation while the store is unavailable. */
const RETRY_DELAYS_MS = [50, 200, 1_000, 3_000];
/**
 * How long attempts to undo an operation are retried: longer than a restart of the store takes, but not so long that
 * the retries delay a process shutdown.
 */
const RETRY_DURATION_MS = 15_000;

interface UncertainOperation<T> {
  readonly operation: T;
  readonly until: number;
}

/**
 * Undoes store operations whose results were lost, as soon as the store is available again. They are undone one after
 * the other, so that an unavailable store receives one attempt at a time, regardless of the number of lost results.
 */
export class Compensation<T> {
  readonly #undo: (operation: T) => Promise<void>;
  readonly #uncertainOperations: UncertainOperation<T>[] = [];
  #running = false;

  /** @param undo undoes a store operation if it was executed; must be idempotent */
  constructor(undo: (operation: T) => Promise<void>) {
    this.#undo = undo;
  }

  /** Adds a store operation whose result was lost, in order to undo it. */
  add(operation: T): void {
    this.#uncertainOperations.push({ operation, until: Date.now() + RETRY_DURATION_MS });
    if (!this.#running) void this.#undoAll();
  }

  async #undoAll(): Promise<void> {
    this.#running = true;
    let failures = 0;
    for (let first = this.#uncertainOperations[0]; first; first = this.#uncertainOperations[0]) {
      try {
        await this.#undo(first.operation);
        failures = 0;
        this.#uncertainOperations.shift();
      } catch {
        if (Date.now() > first.until) this.#uncertainOperations.shift();
        else await new Promise((resolve) => setTimeout(resolve, RETRY_DELAYS_MS[failures++] ?? RETRY_DELAYS_MS.at(-1)));
      }
    }
    this.#running = false;
  }
}
