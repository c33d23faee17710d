/** Limits the number of concurrent holders; others wait in the order of their arrival. */
export class Semaphore {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(max: number) {
    this.#max = max;
  }

  async enter(): Promise<void> {
    if (this.#inside < this.#max) this.#inside++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#inside--;
  }
}
