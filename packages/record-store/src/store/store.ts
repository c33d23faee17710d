import { AsyncResource } from 'node:async_hooks';
import { sql } from 'kysely';
import { GroupCommit } from '../batching/group-commit.js';
import type { TransactionWork } from '../batching/work-groups.js';
import { DatabaseUnavailable, databaseError } from '../errors/database-unavailable.js';
import { StaleRecord } from '../errors/stale-record.js';
import type { StoreObserver } from '../observation/store-observer.js';
import { type DatabaseSettings, databaseSettings } from '../options/database-settings.js';
import { BatchConflict, PostgresTransactions } from '../postgres/postgres-transactions.js';
import { ReadReplicas } from '../replicas/read-replicas.js';
import { migrate } from '../schema/migrate.js';
import type { SchemaChanges } from '../schema/schema-change.js';
import { closeDatabase, type OpenDatabase, openDatabase, type Session, type Tx } from './database.js';

/** The maximum number of attempts for a transaction that conflicts with concurrent changes. */
const MAX_ATTEMPTS = 20;

/**
 * Codes of retryable errors: a stale record and, on PostgreSQL, serialization failure, deadlock, and a session that a
 * pooler switched.
 */
const RETRYABLE_CODES = new Set(['STALE_RECORD', '40001', '40P01', '26000', '42P05']);

/** An open store, which reads and writes records in transactions. */
export interface Store extends Session {
  /**
   * Runs `work` in a transaction, which commits all writes or none. If other transactions change the same records,
   * `work` runs again. It must therefore read and write only through `tx`; side effects belong in `tx.afterCommit`.
   *
   * @throws {@link DatabaseUnavailable} if the database fails
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in a transaction that several callers may share, for frequent concurrent work on separate rows. A row
   * that several callers change must be changed by a single atomic statement, or while the caller holds a lock from
   * `lockName`.
   *
   * @param queue PostgreSQL: only work in the same queue shares a transaction and waits for its commit. Default: one
   *   queue
   */
  together<T>(work: (tx: Tx) => Promise<T>, queue?: string): Promise<T>;
  /** The replicas for callers that only read, if replicas are configured. */
  readonly replicas?: ReadReplicas;
  /**
   * Checks that the database can be reached and stores writes.
   *
   * @throws {@link DatabaseUnavailable} if the database cannot be reached or does not store writes
   */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Options for {@link openStore}. */
export interface StoreOptions extends Partial<DatabaseSettings> {
  /** PostgreSQL: URLs of replicas for callers that only read. */
  readonly databaseRead?: readonly string[];
}

/**
 * Opens a store and applies missing schema changes.
 * @param url `:memory:`, a file, or `postgres://...`
 * @param changes all schema changes that this version knows, oldest first
 * @throws {@link DatabaseUnavailable}; `DatabaseInUse` if another engine uses the SQLite file; `DatabaseTooNew`;
 *   RangeError if a setting is invalid
 *
 * @example
 * ```ts
 * import { createDocumentTable, openStore } from '@apistrata/record-store';
 *
 * const store = await openStore(':memory:', { '0001-notes': { up: (db) => createDocumentTable(db, 'notes') } });
 * ```
 */
export async function openStore(
  url: string,
  changes: SchemaChanges,
  options: StoreOptions = {},
  observer?: StoreObserver,
): Promise<Store> {
  const settings = databaseSettings(options);
  const session = openDatabase(url, settings, observer);
  try {
    await migrate(session, url, settings, changes);
  } catch (error) {
    await closeDatabase(session);
    throw error;
  }
  const runners = createTransactionRunners(session, observer);
  const replicas = createReplicas(url, session, settings, options, observer);
  // Work that shares a commit runs in the asynchronous context of one caller, so each function is bound to its caller's context.
  const bindContext: <W extends (tx: Tx) => Promise<unknown>>(work: W) => W = observer?.around
    ? (work) => AsyncResource.bind(work)
    : (work) => work;
  const transaction: Store['transaction'] = (work) =>
    runWithRetries(session, runners.alone, bindContext(work), replicas);
  return {
    ...session,
    transaction,
    together: (work, queue = '') =>
      runWithRetries(session, (run) => runners.together(run, queue), bindContext(work), replicas).catch((error) => {
        if (error instanceof BatchConflict) return transaction(work);
        throw error;
      }),
    replicas,
    check: () => transaction(testWrite),
    close: async () => {
      await replicas?.close();
      await closeDatabase(session);
    },
  };
}

function createReplicas(
  url: string,
  primary: OpenDatabase,
  settings: DatabaseSettings,
  { databaseRead = [] }: StoreOptions,
  observer: StoreObserver | undefined,
): ReadReplicas | undefined {
  if (databaseRead.length === 0) return undefined;
  return new ReadReplicas({ url, replicas: databaseRead, settings, primary, observer });
}

type RunTransaction = <T>(work: TransactionWork<T>) => Promise<T>;

interface TransactionRunners {
  readonly alone: RunTransaction;
  readonly together: <T>(work: TransactionWork<T>, queue: string) => Promise<T>;
}

function createTransactionRunners(session: OpenDatabase, observer: StoreObserver | undefined): TransactionRunners {
  if (session.kind === 'postgres') {
    const transactions = new PostgresTransactions(session.db, session.dialect, observer?.commit);
    return { alone: (work) => transactions.alone(work), together: (work, queue) => transactions.together(work, queue) };
  }
  const groupCommit = new GroupCommit(session.db, session.dialect, observer?.commit);
  const runGrouped: RunTransaction = (work) => groupCommit.run(work);
  return { alone: runGrouped, together: runGrouped };
}

async function runWithRetries<T>(
  session: Session,
  run: RunTransaction,
  work: (tx: Tx) => Promise<T>,
  replicas: ReadReplicas | undefined,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const commitCallbacks: (() => void)[] = [];
    const owners = new Set<string>();
    const concerns: Tx['concerns'] = replicas ? (owner) => owners.add(owner) : () => {};
    const afterCommit: Tx['afterCommit'] = (commitCallback) => commitCallbacks.push(commitCallback);
    try {
      const result = await run((db, batch) => {
        // `work` runs again after a rollback, so the effects of the previous attempt are discarded.
        commitCallbacks.length = 0;
        owners.clear();
        return work({ ...session, lookups: batch, db, batch, afterCommit, concerns });
      });
      // Writes are announced before success is reported, because the caller may then read them through any process.
      const announcement = owners.size > 0 ? replicas?.writes.record(owners) : undefined;
      for (const commitCallback of commitCallbacks) commitCallback();
      await announcement;
      return result;
    } catch (error) {
      const isRetryable = error instanceof StaleRecord || RETRYABLE_CODES.has((error as { code?: string }).code ?? '');
      if (!isRetryable) throw databaseError(error);
      if (attempt === MAX_ATTEMPTS) throw new DatabaseUnavailable('busy', error);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * attempt * 5));
    }
  }
}

/** Updates the one row that every database contains, because reading alone would not detect a full disk. */
async function testWrite({ db, kind }: Tx): Promise<void> {
  await db
    .updateTable('kysely_migration_lock')
    .set(({ ref }) => ({ is_locked: ref('is_locked') }))
    .execute();
  if (kind !== 'postgres') return;
  // The updated row and its WAL record fit into existing files, but a sort that exceeds `work_mem` needs disk space.
  await sql`set local work_mem = '64kB'`.execute(db);
  await sql`select * from (select (i * 7919) % 10007 as key, repeat('x', 500) from generate_series(1, 1000) as i)
    as rows order by key offset 1000`.execute(db);
}

/**
 * Locks a name until the transaction ends. Other transactions that lock the same name wait. A no-op on SQLite, which
 * has one writer at a time. In a shared transaction, a caller waits only for callers that share the transaction. If
 * another transaction holds the lock, the caller moves to a separate transaction.
 */
export async function lockName({ kind, db, batch }: Tx, name: string): Promise<void> {
  if (kind !== 'postgres') return;
  if (!batch) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
    return;
  }
  await batch.acquire(name);
  const { isLocked } = await db
    .selectNoFrom(sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(${name}, 0))`.as('isLocked'))
    .executeTakeFirstOrThrow();
  if (!isLocked) throw new BatchConflict(`${name} is locked by another transaction`);
}
