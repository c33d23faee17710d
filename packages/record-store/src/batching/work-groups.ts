import type { Transaction } from 'kysely';
import type { StoreObserver } from '../observation/store-observer.js';
import type { Rows, TransactionBatch } from '../store/database.js';

/** The body of a transaction, which may be shared with other members of a batch. */
export type Work<T> = (db: Transaction<Rows>, batch?: TransactionBatch) => Promise<T>;

/** A waiting body, and the functions that report its outcome. */
export interface WaitingWork {
  readonly work: Work<unknown>;
  readonly resolve: (value: any) => void;
  readonly reject: (error: unknown) => void;
}

/** The maximum number of bodies that share one commit. */
const MAX_GROUP_SIZE = 64;

/** Queues bodies in the order of their arrival. Those that wait while one group commits form the next group. */
export class WorkGroups {
  readonly #commit: (group: readonly WaitingWork[]) => Promise<void>;
  readonly #onCommit: StoreObserver['commit'];
  readonly #waiting: WaitingWork[] = [];
  #running = false;

  /** @param commit commits a group and reports the outcome to each member; never rejects */
  constructor(commit: (group: readonly WaitingWork[]) => Promise<void>, onCommit: StoreObserver['commit']) {
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
      await this.#awaitArrivals();
      const group = this.#waiting.splice(0, MAX_GROUP_SIZE);
      const startedAt = this.#onCommit && performance.now();
      await this.#commit(group);
      if (startedAt !== undefined) this.#onCommit?.({ transactions: group.length, ms: performance.now() - startedAt });
    }
    this.#running = false;
  }

  /**
   * Waits for concurrent arrivals. Requests that are read in one turn of the event loop start their transactions in
   * that turn, and those that miss a commit must wait until it is on the disk. Node accepts one new connection per
   * turn, so the wait continues as long as each turn adds members.
   */
  async #awaitArrivals(): Promise<void> {
    let before: number;
    do {
      before = this.#waiting.length;
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#waiting.length > before && this.#waiting.length < MAX_GROUP_SIZE);
  }
}
