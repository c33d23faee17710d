/** Waits between attempts while the store cannot be reached. */
const DELAYS_MS = [50, 200, 1_000, 3_000];
/** Longer than the restart of a store takes, and no longer than a process that is to end may stay for it. */
const GIVEN_UP_AFTER_MS = 15_000;

interface Doubtful<T> {
  readonly act: T;
  readonly until: number;
}

/**
 * Undoes acts of which the answer was lost, as soon as the store can be reached again. One after the other: a store that
 * is down is asked by one at a time, however many there are.
 */
export class Undoing<T> {
  readonly #undo: (act: T) => Promise<void>;
  readonly #doubtful: Doubtful<T>[] = [];
  #working = false;

  /** @param undo works however often it is asked for the same act */
  constructor(undo: (act: T) => Promise<void>) {
    this.#undo = undo;
  }

  add(act: T): void {
    this.#doubtful.push({ act, until: Date.now() + GIVEN_UP_AFTER_MS });
    if (!this.#working) void this.#work();
  }

  async #work(): Promise<void> {
    this.#working = true;
    let failures = 0;
    for (let first = this.#doubtful[0]; first; first = this.#doubtful[0]) {
      try {
        await this.#undo(first.act);
        failures = 0;
        this.#doubtful.shift();
      } catch {
        if (Date.now() > first.until) this.#doubtful.shift();
        else await new Promise((resolve) => setTimeout(resolve, DELAYS_MS[failures++] ?? DELAYS_MS.at(-1)));
      }
    }
    this.#working = false;
  }
}
