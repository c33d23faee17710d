import type { Dialect, Kysely, Transaction } from 'kysely';
import { type Finder, Lookups } from '../batching/lookups.js';
import { shareReads } from '../batching/shared-reads.js';
import { RecordCache } from '../document-table/record-cache.js';
import { observeDialect } from '../observation/observed-dialect.js';
import type { StoreObserver } from '../observation/store-observer.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { postgresDialects } from '../postgres/postgres-dialect.js';
import { sqliteDialect } from '../sqlite/sqlite-dialect.js';
import { sqliteReaderDialect } from '../sqlite/sqlite-readers.js';
import { openPool } from './pool-executor.js';

/** Rows of any shape, because tables are typed by their definitions (see `document-table.ts`), not by Kysely. */
export type Rows = Record<string, any>;

/** The kinds of supported databases. */
export type DatabaseKind = 'sqlite' | 'postgres';

/** A context for reads: the store itself, or a transaction. */
export interface Session {
  readonly db: Kysely<Rows>;
  /**
   * Executes long queries on the same database. SQLite files use read-only connections in other threads, because the
   * main connection blocks the thread that serves requests. PostgreSQL uses some of the pool's connections.
   */
  readonly longReads: Kysely<Rows>;
  readonly kind: DatabaseKind;
  /** A cache of recently read records. */
  readonly records: RecordCache;
  /** Batches look-ups in the same table. Set only for PostgreSQL, where each query is a round trip. */
  readonly lookups?: Finder;
}

/** An open database and its dialect. */
export interface OpenDatabase extends Session {
  readonly dialect: Dialect;
}

/**
 * A transaction that several concurrent callers share. Each caller sees the writes of the others, and all writes are
 * committed or rolled back together.
 */
export interface TransactionBatch extends Finder {
  /** Locks a name until this caller's work ends. Waits while another caller has locked the name. */
  acquire(name: string): Promise<void>;
  /** Computes a value once for all callers that share the transaction. */
  once<T>(key: string, find: () => Promise<T>): Promise<T>;
  /**
   * Batches items from several callers into one statement. Calls with the same key in one turn of the event loop share
   * one call of `query`, which returns the results in the order of the items.
   */
  runInBatch<I, O>(key: string, item: I, query: (items: readonly I[]) => Promise<readonly O[]>): Promise<O>;
}

/** A transaction. Its queries see its own writes, and its `afterCommit` functions run once the writes are durable. */
export interface Tx extends Session {
  readonly db: Transaction<Rows>;
  /** Set if the transaction is shared with other callers. */
  readonly batch?: TransactionBatch;
  afterCommit(run: () => void): void;
  /**
   * Adds an owner whose readers must see the writes, such as the requesting caller or `ALL_PROJECTS`, in addition to
   * each record's project or user. These readers use the primary until a replica has the writes.
   */
  concerns(owner: string): void;
}

/**
 * If a query to a SQLite file has waited and no other query has joined it, this many of the following queries start
 * without waiting. Waiting takes nearly as long as a query, so most queries of a single client do not wait.
 */
const SQLITE_UNSHARED_READS = 4;

/** Opens `:memory:`, a SQLite file, or a `postgres://` URL. Nothing is read or written before the first query. */
export function openDatabase(url: string, settings: DatabaseSettings, observer?: StoreObserver): OpenDatabase {
  const kind: DatabaseKind = /^postgres(ql)?:\/\//.test(url) ? 'postgres' : 'sqlite';
  const dialects = kind === 'postgres' ? postgresDialects(url, settings) : sqliteDialects(url, settings);
  const dialect = observeDialect(dialects.all, observer, kind === 'postgres' ? settings.poolSize : 1);
  const sharedReadOptions = {
    traced: observer?.around !== undefined,
    unsharedReadsAfterLoneRead: kind === 'postgres' ? 0 : SQLITE_UNSHARED_READS,
  };
  const db = openPool(dialect, (driver, alone) => shareReads(driver, alone, sharedReadOptions));
  // Only statements are observed here, because pool figures describe only the connections that requests wait for.
  const longReads = dialects.longReads
    ? openPool(observeDialect(dialects.longReads, observer && { statement: observer.statement }, settings.longReads))
    : db;
  const lookups = kind === 'postgres' ? new Lookups() : undefined;
  return { db, longReads, kind, dialect, lookups, records: new RecordCache() };
}

/** Creates the dialects for a SQLite database. An in-memory database has a single connection. */
function sqliteDialects(
  url: string,
  settings: DatabaseSettings,
): { readonly all: Dialect; readonly longReads?: Dialect } {
  return {
    all: sqliteDialect(url, settings),
    longReads: url === ':memory:' ? undefined : sqliteReaderDialect(url, settings.longReads),
  };
}

/** Closes a database, starting with the connections for long queries. */
export async function closeDatabase({ db, longReads }: Session): Promise<void> {
  if (longReads !== db) await longReads.destroy();
  await db.destroy();
}
