/** Limits the number of concurrent holders; others wait in the order of their arrival. */
export class Semaphore {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Waits for a free place; returns undefined if there is one. */
  enter(): Promise<void> | undefined {
    if (this.#inside >= this.#max) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#inside++;
    return undefined;
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#inside--;
  }
}
