/** Delays between attempts while the store is unavailable. */
const DELAYS_MS = [50, 200, 1_000, 3_000];
/** Longer than a store needs to restart, and short enough not to delay the shutdown of a process. */
const GIVE_UP_AFTER_MS = 15_000;

interface UncertainOperation<T> {
  readonly act: T;
  readonly until: number;
}

/**
 * Undoes operations whose result was lost, as soon as the store is available again. Sequential, so that an unavailable
 * store receives one attempt at a time, regardless of the number of lost results.
 */
export class Compensation<T> {
  readonly #undo: (act: T) => Promise<void>;
  readonly #uncertain: UncertainOperation<T>[] = [];
  #working = false;

  /** @param undo must be idempotent */
  constructor(undo: (act: T) => Promise<void>) {
    this.#undo = undo;
  }

  add(act: T): void {
    this.#uncertain.push({ act, until: Date.now() + GIVE_UP_AFTER_MS });
    if (!this.#working) void this.#work();
  }

  async #work(): Promise<void> {
    this.#working = true;
    let failures = 0;
    for (let first = this.#uncertain[0]; first; first = this.#uncertain[0]) {
      try {
        await this.#undo(first.act);
        failures = 0;
        this.#uncertain.shift();
      } catch {
        if (Date.now() > first.until) this.#uncertain.shift();
        else await new Promise((resolve) => setTimeout(resolve, DELAYS_MS[failures++] ?? DELAYS_MS.at(-1)));
      }
    }
    this.#working = false;
  }
}
