import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import type { EngineObserver } from '../observation/observer.js';
import type { Rows } from './database.js';
import { DatabaseUnavailable } from './database-unavailable.js';

type Work<T> = (db: Transaction<Rows>) => Promise<T>;

interface Waiting {
  readonly work: Work<unknown>;
  readonly resolve: (value: any) => void;
  readonly reject: (error: unknown) => void;
}

/** How many transactions share one commit at the most. */
const LARGEST_GROUP = 64;

/**
 * Runs transactions one after the other and commits those that wait together at once. Each has a savepoint of its own,
 * so one that fails undoes only itself; nobody hears of success before the shared commit. A commit writes whole pages:
 * sharing it is what makes many small transactions cheap.
 */
export class GroupCommit {
  readonly #db: Kysely<Rows>;
  readonly #waiting: Waiting[] = [];
  #running = false;

  readonly #onCommit: EngineObserver['commit'];

  constructor(db: Kysely<Rows>, onCommit?: EngineObserver['commit']) {
    this.#db = db;
    this.#onCommit = onCommit;
  }

  run<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject });
      if (!this.#running) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      // Whatever has arrived with it comes along: requests that are read in one turn of the event loop get to their
      // transactions within it, and a commit that waits for the disk keeps the next ones until then.
      await new Promise((resolve) => setImmediate(resolve));
      const group = this.#waiting.splice(0, LARGEST_GROUP);
      const begunAt = this.#onCommit && performance.now();
      await this.#commit(group);
      if (begunAt !== undefined) this.#onCommit?.({ transactions: group.length, ms: performance.now() - begunAt });
    }
    this.#running = false;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    if (group.length === 1) {
      const { work, resolve, reject } = group[0]!;
      await this.#db.transaction().execute(work).then(resolve, reject);
      return;
    }
    const outcomes: (() => void)[] = [];
    try {
      await this.#db.transaction().execute(async (db) => {
        for (const { work, resolve, reject } of group) {
          await db.executeQuery(SAVEPOINT);
          try {
            const value = await work(db);
            await db.executeQuery(RELEASE);
            outcomes.push(() => resolve(value));
          } catch (error) {
            // Trouble of the database is everybody's, and the savepoint may be gone already.
            if (error instanceof DatabaseUnavailable) throw error;
            await db.executeQuery(UNDO);
            await db.executeQuery(RELEASE);
            outcomes.push(() => reject(error));
          }
        }
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
      return;
    }
    for (const done of outcomes) done();
  }
}

const SAVEPOINT = CompiledQuery.raw('savepoint work');
const UNDO = CompiledQuery.raw('rollback to work');
const RELEASE = CompiledQuery.raw('release work');
