import type { Transaction } from 'kysely';
import type { StoreObserver } from '../observation/store-observer.js';
import type { Rows, TransactionBatch } from '../store/database.js';

/** The body of a transaction. If `batch` is set, other bodies run concurrently in the same transaction. */
export type TransactionWork<T> = (db: Transaction<Rows>, batch?: TransactionBatch) => Promise<T>;

/** A transaction body that waits for execution, and the functions that settle its caller's promise. */
export interface WaitingTransaction {
  readonly work: TransactionWork<unknown>;
  readonly resolve: (value: any) => void;
  readonly reject: (error: unknown) => void;
}

/** The maximum number of transaction bodies that share one commit. */
const MAX_GROUP_SIZE = 64;

/**
 * Queues transaction bodies in the order of their arrival. Bodies that wait while one group commits form the next
 * group.
 */
export class WorkGroups {
  readonly #commit: (group: readonly WaitingTransaction[]) => Promise<void>;
  readonly #onCommit: StoreObserver['commit'];
  readonly #waiting: WaitingTransaction[] = [];
  #running = false;

  /** @param commit commits a group and settles each caller's promise; never rejects */
  constructor(commit: (group: readonly WaitingTransaction[]) => Promise<void>, onCommit: StoreObserver['commit']) {
    this.#commit = commit;
    this.#onCommit = onCommit;
  }

  add<T>(work: TransactionWork<T>): Promise<T> {
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
      const commitStartedAt = this.#onCommit && performance.now();
      await this.#commit(group);
      if (commitStartedAt !== undefined)
        this.#onCommit?.({ transactions: group.length, ms: performance.now() - commitStartedAt });
    }
    this.#running = false;
  }

  /**
   * Waits for concurrent transactions, because a transaction that misses a shared commit must wait until that commit is
   * on disk. Requests that are read in one turn of the event loop start their transactions in that turn. Node accepts
   * one new connection per turn, so the wait continues as long as each turn adds transactions.
   */
  async #awaitArrivals(): Promise<void> {
    let previousLength: number;
    do {
      previousLength = this.#waiting.length;
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#waiting.length > previousLength && this.#waiting.length < MAX_GROUP_SIZE);
  }
}
