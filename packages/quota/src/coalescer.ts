import { sideBySide } from './side-by-side.js';

const MAX_BATCH = 250;

interface Waiting<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Brings together what is asked for at the same time: while one batch is under way the next one gathers. Under load a
 * shared store is asked once for many requests; alone, a request goes out at once.
 */
export class Coalescer<T, R> {
  readonly #run: (items: readonly T[]) => Promise<readonly R[]>;
  #waiting: Waiting<T, R>[] = [];
  #running = false;

  /** @param run answers with one result for each item, in their order */
  constructor(run: (items: readonly T[]) => Promise<readonly R[]>) {
    this.#run = run;
  }

  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#running) return;
      this.#running = true;
      queueMicrotask(() => this.#drain());
    });
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      try {
        const results = await this.#run(batch.map(({ item }) => item));
        for (const [{ resolve }, result] of sideBySide(batch, results)) resolve(result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#running = false;
  }
}
