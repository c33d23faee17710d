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

/** How a store is asked. */
export interface Questions<T, R> {
  /** What comes alone. */
  readonly one: (item: T) => Promise<R>;
  /** What came together: answers with one result for each item, in their order. */
  readonly many: (items: readonly T[]) => Promise<readonly R[]>;
}

const AT_ONCE = Promise.resolve();

/**
 * Brings together what is asked for at the same time: while batches are under way the next one gathers. Under load a
 * shared store is asked once for many requests; alone, a request goes out at once.
 */
export class Coalescer<T, R> {
  readonly #batches: Batches;
  readonly #questions: Questions<T, R>;
  #waiting: Waiting<T, R>[] = [];
  #running = 0;
  #started = false;

  constructor(batches: Batches, questions: Questions<T, R>) {
    this.#batches = batches;
    this.#questions = questions;
  }

  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#started) return;
      this.#started = true;
      void AT_ONCE.then(this.#start);
    });
  }

  /** As many batches as may be under way, of what came together since this was asked for. */
  readonly #start = (): void => {
    this.#started = false;
    while (this.#waiting.length > 0 && this.#running < this.#batches.atOnce) {
      this.#running++;
      const batch = this.#waiting.splice(0, this.#batches.size);
      const [first, ...others] = batch;
      void (first && others.length === 0 ? this.#settleOne(first) : this.#settle(batch));
    }
  };

  async #settleOne({ item, resolve, reject }: Waiting<T, R>): Promise<void> {
    try {
      resolve(await this.#questions.one(item));
    } catch (error) {
      reject(error);
    }
    this.#next();
  }

  async #settle(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await this.#questions.many(batch.map(({ item }) => item));
      for (const [{ resolve }, result] of sideBySide(batch, results)) resolve(result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#next();
  }

  #next(): void {
    this.#running--;
    this.#start();
  }
}
