import { CompiledQuery, type Dialect, type Driver, type Kysely, type Transaction } from 'kysely';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import type { StoreObserver } from '../observation/store-observer.js';
import type { Rows } from '../store/database.js';
import { TransactionConnection, transactionOn } from '../store/transaction-on.js';
import { type WaitingWork, type Work, WorkGroups } from './work-groups.js';

/** A function that settles a caller's promise after the shared commit. */
type Outcome = () => void;

/** Thrown to roll back a shared transaction if one of its callers failed after changing rows. */
const PARTIAL_GROUP = new Error('a grouped transaction failed after changing rows');

/**
 * Runs transactions one at a time, and commits those that wait together. A commit writes whole pages, so small
 * transactions are cheap only if they share a commit. Promises resolve only after the shared commit.
 *
 * A failed transaction rolls back only its own changes. This requires a savepoint per transaction, and SQLite copies
 * every page before its first change after a savepoint. Groups therefore run without savepoints first, and run again
 * with savepoints if a transaction failed after changing rows.
 */
export class GroupCommit {
  readonly #db: Kysely<Rows>;
  readonly #dialect: Dialect;
  readonly #driver: Driver;
  readonly #groups: WorkGroups;

  constructor(db: Kysely<Rows>, dialect: Dialect, onCommit?: StoreObserver['commit']) {
    this.#db = db;
    this.#dialect = dialect;
    this.#driver = dialect.createDriver();
    this.#groups = new WorkGroups((group) => this.#commit(group), onCommit);
  }

  run<T>(work: Work<T>): Promise<T> {
    return this.#groups.add(work);
  }

  async #commit(group: readonly WaitingWork[]): Promise<void> {
    const [first, ...others] = group;
    if (first && others.length === 0) {
      await this.#transaction(first.work).then(first.resolve, first.reject);
      return;
    }
    try {
      const outcomes = await this.#runEach(group, withoutSavepoint).catch((error) => {
        if (error === PARTIAL_GROUP) return this.#runEach(group, withSavepoint);
        throw error;
      });
      for (const notify of outcomes) notify();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  #runEach(
    group: readonly WaitingWork[],
    run: (db: Transaction<Rows>, waiting: WaitingWork) => Promise<Outcome>,
  ): Promise<readonly Outcome[]> {
    return this.#transaction(async (db) => {
      const outcomes: Outcome[] = [];
      for (const waiting of group) outcomes.push(await run(db, waiting));
      return outcomes;
    });
  }

  #transaction<T>(work: (db: Transaction<Rows>) => Promise<T>): Promise<T> {
    return this.#db.getExecutor().provideConnection(async (connection) => {
      const transactionConnection = new TransactionConnection(connection);
      await this.#driver.beginTransaction(connection, {});
      try {
        const transaction = transactionOn(transactionConnection, this.#dialect, this.#driver);
        const result = await work(transaction).finally(() => transactionConnection.end());
        await this.#driver.commitTransaction(connection);
        return result;
      } catch (error) {
        await this.#driver.rollbackTransaction(connection);
        throw error;
      }
    });
  }
}

async function withoutSavepoint(db: Transaction<Rows>, { work, resolve, reject }: WaitingWork): Promise<Outcome> {
  const before = await changesIn(db);
  try {
    const value = await work(db);
    return () => resolve(value);
  } catch (error) {
    // A database failure affects the whole group, and the transaction may have ended already.
    if (error instanceof DatabaseUnavailable) throw error;
    if ((await changesIn(db)) !== before) throw PARTIAL_GROUP;
    return () => reject(error);
  }
}

async function withSavepoint(db: Transaction<Rows>, { work, resolve, reject }: WaitingWork): Promise<Outcome> {
  await db.executeQuery(SAVEPOINT);
  try {
    const value = await work(db);
    await db.executeQuery(RELEASE);
    return () => resolve(value);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    await db.executeQuery(ROLLBACK);
    await db.executeQuery(RELEASE);
    return () => reject(error);
  }
}

/** Returns the number of rows that the connection has changed so far. */
async function changesIn(db: Transaction<Rows>): Promise<number | undefined> {
  return (await db.executeQuery<{ readonly changes: number }>(CHANGES)).rows[0]?.changes;
}

const CHANGES = CompiledQuery.raw('select total_changes() as changes');
const SAVEPOINT = CompiledQuery.raw('savepoint work');
const ROLLBACK = CompiledQuery.raw('rollback to work');
const RELEASE = CompiledQuery.raw('release work');
