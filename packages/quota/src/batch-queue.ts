import { zip } from './zip.js';

/** Limits for the batches that a {@link BatchQueue} sends. */
export interface BatchLimits {
  /** The maximum number of items in a batch. */
  readonly size: number;
  /** The maximum number of batches in flight. */
  readonly maxInFlight: number;
}

interface QueuedItem<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/** The functions that process the queued items: one for a single item, one for a batch. */
export interface BatchFunctions<T, R> {
  /** Processes a single item. */
  readonly one: (item: T) => Promise<R>;
  /** Processes a batch. Returns one result for each item, in the same order. */
  readonly many: (items: readonly T[]) => Promise<readonly R[]>;
}

const NEXT_MICROTASK = Promise.resolve();

/**
 * Combines concurrent calls into batches: while the maximum number of batches is in flight, additional items wait for the next
 * batch. Under load, the store receives one statement for many requests; without load, each item is sent immediately.
 */
export class BatchQueue<T, R> {
  readonly #batches: BatchLimits;
  readonly #functions: BatchFunctions<T, R>;
  #waiting: QueuedItem<T, R>[] = [];
  #running = 0;
  #started = false;

  constructor(batches: BatchLimits, functions: BatchFunctions<T, R>) {
    this.#batches = batches;
    this.#functions = functions;
  }

  /** Adds an item to the queue. Resolves to the item's result. */
  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#started) return;
      this.#started = true;
      void NEXT_MICROTASK.then(this.#start);
    });
  }

  /** Sends the accumulated items in batches, until the maximum number of batches is in flight. */
  readonly #start = (): void => {
    this.#started = false;
    while (this.#waiting.length > 0 && this.#running < this.#batches.maxInFlight) {
      this.#running++;
      const batch = this.#waiting.splice(0, this.#batches.size);
      const [first, ...others] = batch;
      void (first && others.length === 0 ? this.#runSingle(first) : this.#runBatch(batch));
    }
  };

  async #runSingle({ item, resolve, reject }: QueuedItem<T, R>): Promise<void> {
    try {
      resolve(await this.#functions.one(item));
    } catch (error) {
      reject(error);
    }
    this.#next();
  }

  async #runBatch(batch: readonly QueuedItem<T, R>[]): Promise<void> {
    try {
      const results = await this.#functions.many(batch.map(({ item }) => item));
      for (const [{ resolve }, result] of zip(batch, results)) resolve(result);
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
