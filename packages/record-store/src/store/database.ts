import type { Dialect, Kysely, Transaction } from 'kysely';
import { type Finder, Lookups } from '../batching/lookups.js';
import { sharedReads } from '../batching/shared-reads.js';
import { RecordCache } from '../document-table/record-cache.js';
import { observedDialect } from '../observation/observed-dialect.js';
import type { StoreObserver } from '../observation/store-observer.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { postgresDialects } from '../postgres/postgres-dialect.js';
import { sqliteDialect } from '../sqlite/sqlite-dialect.js';
import { sqliteReaders } from '../sqlite/sqlite-readers.js';
import { openPool } from './pool-executor.js';

/** Rows of any shape, because tables are typed by their definitions (see document-table.ts), not in Kysely. */
export type Rows = Record<string, any>;

/** The supported databases. */
export type DatabaseKind = 'sqlite' | 'postgres';

/** A source of reads: the store itself, or a transaction. */
export interface Session {
  readonly db: Kysely<Rows>;
  /**
   * The same database for long queries. For a SQLite file, it uses read-only connections in other threads, because the
   * main connection blocks the thread that serves requests; for PostgreSQL, some of the connections.
   */
  readonly longReads: Kysely<Rows>;
  readonly kind: DatabaseKind;
  /** Recently read records. */
  readonly records: RecordCache;
  /** Batches look-ups in the same table; only for databases for which each query is a round trip. */
  readonly lookups?: Finder;
}

/** An open database and its dialect. */
export interface OpenDatabase extends Session {
  readonly dialect: Dialect;
}

/**
 * The shared state of concurrent members of one transaction. Each member sees the writes of the others, and they are
 * committed or rolled back together.
 */
export interface TransactionBatch extends Finder {
  /** Waits until no other member holds the name, and holds it until this member ends. */
  acquire(name: string): Promise<void>;
  /** Computes a value once for all members. */
  once<T>(key: string, find: () => Promise<T>): Promise<T>;
  /**
   * Batches items of several members into one statement: calls with the same key in one turn of the event loop share
   * one call of `query`, which returns the results in the order of the items.
   */
  gather<I, O>(key: string, item: I, query: (items: readonly I[]) => Promise<readonly O[]>): Promise<O>;
}

/** A transaction: reads its own writes, and calls its `afterCommit` functions once everything is durable. */
export interface Tx extends Session {
  readonly db: Transaction<Rows>;
  /** Set if the transaction is shared with others. */
  readonly batch?: TransactionBatch;
  afterCommit(run: () => void): void;
  /**
   * Adds an owner whose readers must see the writes, in addition to the project or user of each record: the requesting
   * caller, or `ALL_PROJECTS`. They read from the primary until a replica has the writes.
   */
  concerns(owner: string): void;
}

/**
 * The number of queries of a SQLite file that do not wait for others after a query that no other query joined. A query
 * takes little longer than waiting for others, so most queries of a single client do not wait.
 */
const SQLITE_ALONE_AFTER_ONE = 4;

/** Opens `:memory:`, a SQLite file, or a `postgres://` URL. Nothing is read or written before the first query. */
export function openDatabase(url: string, settings: DatabaseSettings, observer?: StoreObserver): OpenDatabase {
  const kind: DatabaseKind = /^postgres(ql)?:\/\//.test(url) ? 'postgres' : 'sqlite';
  const dialects = kind === 'postgres' ? postgresDialects(url, settings) : sqliteDialects(url, settings);
  const dialect = observedDialect(dialects.all, observer, kind === 'postgres' ? settings.poolSize : 1);
  const sharing = {
    traced: observer?.around !== undefined,
    aloneAfterOne: kind === 'postgres' ? 0 : SQLITE_ALONE_AFTER_ONE,
  };
  const db = openPool(dialect, (driver, alone) => sharedReads(driver, alone, sharing));
  // Pool figures are reported only for the connections that requests wait for.
  const longReads = dialects.longReads
    ? openPool(observedDialect(dialects.longReads, observer && { statement: observer.statement }, settings.longReads))
    : db;
  const lookups = kind === 'postgres' ? new Lookups() : undefined;
  return { db, longReads, kind, dialect, lookups, records: new RecordCache() };
}

/** Creates the dialects of a SQLite database; an in-memory database has a single connection. */
function sqliteDialects(
  url: string,
  settings: DatabaseSettings,
): { readonly all: Dialect; readonly longReads?: Dialect } {
  return {
    all: sqliteDialect(url, settings),
    longReads: url === ':memory:' ? undefined : sqliteReaders(url, settings.longReads),
  };
}

/** Closes a database; connections for long queries first. */
export async function closeDatabase({ db, longReads }: Session): Promise<void> {
  if (longReads !== db) await longReads.destroy();
  await db.destroy();
}
