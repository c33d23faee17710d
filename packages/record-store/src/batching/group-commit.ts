import { CompiledQuery, type Dialect, type Driver, type Kysely, type Transaction } from 'kysely';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import type { StoreObserver } from '../observation/store-observer.js';
import type { Rows } from '../store/database.js';
import { createTransactionOn, TransactionConnection } from '../store/transaction-on.js';
import { type TransactionWork, type WaitingTransaction, WorkGroups } from './work-groups.js';

/** A function that settles a caller's promise after the commit of its group. */
type SettlePromise = () => void;

/** Thrown to roll back a shared transaction if one of its callers failed after changing rows. */
const PARTIAL_GROUP_ERROR = new Error('a grouped transaction failed after changing rows');

/**
 * Runs transactions one at a time, and commits all waiting transactions as a group. A commit writes whole pages, so
 * small transactions are cheap only if they share a commit. Promises resolve only after the commit of their group.
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

  run<T>(work: TransactionWork<T>): Promise<T> {
    return this.#groups.add(work);
  }

  async #commit(group: readonly WaitingTransaction[]): Promise<void> {
    const [first, ...others] = group;
    if (first && others.length === 0) {
      await this.#transaction(first.work).then(first.resolve, first.reject);
      return;
    }
    try {
      const outcomes = await this.#runEach(group, runWithoutSavepoint).catch((error) => {
        if (error === PARTIAL_GROUP_ERROR) return this.#runEach(group, runWithSavepoint);
        throw error;
      });
      for (const settle of outcomes) settle();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  #runEach(
    group: readonly WaitingTransaction[],
    run: (db: Transaction<Rows>, waitingTransaction: WaitingTransaction) => Promise<SettlePromise>,
  ): Promise<readonly SettlePromise[]> {
    return this.#transaction(async (db) => {
      const outcomes: SettlePromise[] = [];
      for (const waitingTransaction of group) outcomes.push(await run(db, waitingTransaction));
      return outcomes;
    });
  }

  #transaction<T>(work: (db: Transaction<Rows>) => Promise<T>): Promise<T> {
    return this.#db.getExecutor().provideConnection(async (connection) => {
      const transactionConnection = new TransactionConnection(connection);
      await this.#driver.beginTransaction(connection, {});
      try {
        const transaction = createTransactionOn(transactionConnection, this.#dialect, this.#driver);
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

async function runWithoutSavepoint(
  db: Transaction<Rows>,
  { work, resolve, reject }: WaitingTransaction,
): Promise<SettlePromise> {
  const previousChangeCount = await countChangedRows(db);
  try {
    const value = await work(db);
    return () => resolve(value);
  } catch (error) {
    // A database failure affects the whole group, and the transaction may have ended already.
    if (error instanceof DatabaseUnavailable) throw error;
    if ((await countChangedRows(db)) !== previousChangeCount) throw PARTIAL_GROUP_ERROR;
    return () => reject(error);
  }
}

async function runWithSavepoint(
  db: Transaction<Rows>,
  { work, resolve, reject }: WaitingTransaction,
): Promise<SettlePromise> {
  await db.executeQuery(CREATE_SAVEPOINT);
  try {
    const value = await work(db);
    await db.executeQuery(RELEASE_SAVEPOINT);
    return () => resolve(value);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    await db.executeQuery(ROLLBACK_TO_SAVEPOINT);
    await db.executeQuery(RELEASE_SAVEPOINT);
    return () => reject(error);
  }
}

/** Returns the number of rows that the connection has changed so far. */
async function countChangedRows(db: Transaction<Rows>): Promise<number | undefined> {
  return (await db.executeQuery<{ readonly changes: number }>(COUNT_CHANGED_ROWS)).rows[0]?.changes;
}

const COUNT_CHANGED_ROWS = CompiledQuery.raw('select total_changes() as changes');
const CREATE_SAVEPOINT = CompiledQuery.raw('savepoint work');
const ROLLBACK_TO_SAVEPOINT = CompiledQuery.raw('rollback to work');
const RELEASE_SAVEPOINT = CompiledQuery.raw('release work');
