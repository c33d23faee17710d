import { sideBySide } from './side-by-side.js';

/** How batches go to a store. */
export interface Batches {
  /** How many items one has at the most. */
  readonly size: number;
  /** How many are under way at a time. */
  readonly atOnce: number;
}

interface Waiting<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Brings together what is asked for at the same time: while batches are under way the next one gathers. Under load a
 * shared store is asked once for many requests; alone, a request goes out at once.
 */
export class Coalescer<T, R> {
  readonly #batches: Batches;
  readonly #run: (items: readonly T[]) => Promise<readonly R[]>;
  #waiting: Waiting<T, R>[] = [];
  #running = 0;
  #started = false;

  /** @param run answers with one result for each item, in their order */
  constructor(batches: Batches, run: (items: readonly T[]) => Promise<readonly R[]>) {
    this.#batches = batches;
    this.#run = run;
  }

  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#started) return;
      this.#started = true;
      queueMicrotask(() => this.#start());
    });
  }

  /** As many batches as may be under way, of what came together since this was asked for. */
  #start(): void {
    this.#started = false;
    while (this.#waiting.length > 0 && this.#running < this.#batches.atOnce) {
      this.#running++;
      void this.#settle(this.#waiting.splice(0, this.#batches.size));
    }
  }

  async #settle(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await this.#run(batch.map(({ item }) => item));
      for (const [{ resolve }, result] of sideBySide(batch, results)) resolve(result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#running--;
    this.#start();
  }
}
