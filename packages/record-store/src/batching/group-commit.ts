import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import type { StoreObserver } from '../observation/store-observer.js';
import type { Rows } from '../store/database.js';
import { type Waiting, type Work, WorkGroups } from './work-groups.js';

/** How it went with a work: tells whoever waits for it, once all is durable. */
type Outcome = () => void;

/** What is thrown where a work has failed after it had changed something. */
const HALF_DONE = new Error('a work has failed after a change');

/**
 * Runs transactions one after the other and commits those that wait together at once: a commit writes whole pages, and
 * sharing it is what makes many small transactions cheap. Nobody hears of success before the shared commit.
 *
 * One that fails undoes only itself. That takes a savepoint for each, for which SQLite copies every page that is about to
 * change; so it is first tried without, and done with them where one has failed after a change.
 */
export class GroupCommit {
  readonly #db: Kysely<Rows>;
  readonly #groups: WorkGroups;

  constructor(db: Kysely<Rows>, onCommit?: StoreObserver['commit']) {
    this.#db = db;
    this.#groups = new WorkGroups((group) => this.#commit(group), onCommit);
  }

  run<T>(work: Work<T>): Promise<T> {
    return this.#groups.add(work);
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const [first, ...others] = group;
    if (first && others.length === 0) {
      await this.#db.transaction().execute(first.work).then(first.resolve, first.reject);
      return;
    }
    try {
      const outcomes = await this.#each(group, withoutSavepoint).catch((error) => {
        if (error === HALF_DONE) return this.#each(group, withSavepoint);
        throw error;
      });
      for (const tell of outcomes) tell();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  #each(
    group: readonly Waiting[],
    run: (db: Transaction<Rows>, waiting: Waiting) => Promise<Outcome>,
  ): Promise<readonly Outcome[]> {
    return this.#db.transaction().execute(async (db) => {
      const outcomes: Outcome[] = [];
      for (const waiting of group) outcomes.push(await run(db, waiting));
      return outcomes;
    });
  }
}

async function withoutSavepoint(db: Transaction<Rows>, { work, resolve, reject }: Waiting): Promise<Outcome> {
  const before = await changesIn(db);
  try {
    const value = await work(db);
    return () => resolve(value);
  } catch (error) {
    // Trouble of the database is everybody's, and the transaction may be gone already.
    if (error instanceof DatabaseUnavailable) throw error;
    if ((await changesIn(db)) !== before) throw HALF_DONE;
    return () => reject(error);
  }
}

async function withSavepoint(db: Transaction<Rows>, { work, resolve, reject }: Waiting): Promise<Outcome> {
  await db.executeQuery(SAVEPOINT);
  try {
    const value = await work(db);
    await db.executeQuery(RELEASE);
    return () => resolve(value);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    await db.executeQuery(UNDO);
    await db.executeQuery(RELEASE);
    return () => reject(error);
  }
}

/** How many rows the connection has changed so far. */
async function changesIn(db: Transaction<Rows>): Promise<number | undefined> {
  return (await db.executeQuery<{ readonly changes: number }>(CHANGES)).rows[0]?.changes;
}

const CHANGES = CompiledQuery.raw('select total_changes() as changes');
const SAVEPOINT = CompiledQuery.raw('savepoint work');
const UNDO = CompiledQuery.raw('rollback to work');
const RELEASE = CompiledQuery.raw('release work');
