/** A counting semaphore. Callers beyond the limit wait in the order of their arrival. */
export class Semaphore {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #holders = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns undefined if a slot was free, otherwise a promise that resolves when the caller has a slot. */
  enter(): Promise<void> | undefined {
    if (this.#holders >= this.#max) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#holders++;
    return undefined;
  }

  leave(): void {
    const nextWaiting = this.#waiting.shift();
    if (nextWaiting) nextWaiting();
    else this.#holders--;
  }
}
