import type { Transaction } from 'kysely';
import type { StoreObserver } from '../observation/store-observer.js';
import type { Rows, TransactionBatch } from '../store/database.js';

/** The body of a transaction, which may be shared with other members of a batch. */
export type Work<T> = (db: Transaction<Rows>, batch?: TransactionBatch) => Promise<T>;

/** A waiting body, and the function that reports its outcome. */
export interface Waiting {
  readonly work: Work<unknown>;
  readonly resolve: (value: any) => void;
  readonly reject: (error: unknown) => void;
}

/** The maximum number of bodies that share one commit. */
const LARGEST_GROUP = 64;

/** Bodies in the order of their arrival: those that wait while one group commits form the next group. */
export class WorkGroups {
  readonly #commit: (group: readonly Waiting[]) => Promise<void>;
  readonly #onCommit: StoreObserver['commit'];
  readonly #waiting: Waiting[] = [];
  #running = false;

  /** @param commit commits a group and reports the outcome to each member; never rejects */
  constructor(commit: (group: readonly Waiting[]) => Promise<void>, onCommit: StoreObserver['commit']) {
    this.#commit = commit;
    this.#onCommit = onCommit;
  }

  add<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject });
      if (!this.#running) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      await this.#gathered();
      const group = this.#waiting.splice(0, LARGEST_GROUP);
      const startedAt = this.#onCommit && performance.now();
      await this.#commit(group);
      if (startedAt !== undefined) this.#onCommit?.({ transactions: group.length, ms: performance.now() - startedAt });
    }
    this.#running = false;
  }

  /**
   * Waits for concurrent arrivals: requests that are read in one turn of the event loop reach their transactions within
   * it, and a commit that waits for the disk delays the next ones until then. Node accepts one new connection per turn,
   * so the wait continues while a turn has added members.
   */
  async #gathered(): Promise<void> {
    let before: number;
    do {
      before = this.#waiting.length;
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#waiting.length > before && this.#waiting.length < LARGEST_GROUP);
  }
}
