import type { Transaction } from 'kysely';
import type { StoreObserver } from '../observation/store-observer.js';
import type { Mates, Rows } from '../store/database.js';

/** What is done in a transaction, perhaps beside others in the same one. */
export type Work<T> = (db: Transaction<Rows>, mates?: Mates) => Promise<T>;

/** A work that waits for its transaction, and who is told of its end. */
export interface Waiting {
  readonly work: Work<unknown>;
  readonly resolve: (value: any) => void;
  readonly reject: (error: unknown) => void;
}

/** How many works share one commit at the most. */
const LARGEST_GROUP = 64;

/** Works in the order in which they came: those that wait while one group is committed are the next group. */
export class WorkGroups {
  readonly #commit: (group: readonly Waiting[]) => Promise<void>;
  readonly #onCommit: StoreObserver['commit'];
  readonly #waiting: Waiting[] = [];
  #running = false;

  /** @param commit tells everybody of a group of the end; never rejects */
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
      const begunAt = this.#onCommit && performance.now();
      await this.#commit(group);
      if (begunAt !== undefined) this.#onCommit?.({ transactions: group.length, ms: performance.now() - begunAt });
    }
    this.#running = false;
  }

  /**
   * Whatever has arrived with it comes along: requests that are read in one turn of the event loop get to their
   * transactions within it, and a commit that waits for the disk keeps the next ones until then. Node takes one new
   * connection in a turn, so as long as a turn has brought more, the next one may.
   */
  async #gathered(): Promise<void> {
    let before: number;
    do {
      before = this.#waiting.length;
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#waiting.length > before && this.#waiting.length < LARGEST_GROUP);
  }
}
