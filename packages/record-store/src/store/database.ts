import { type Dialect, Kysely, type Transaction } from 'kysely';
import { type Finder, Lookups } from '../batching/lookups.js';
import { RecordCache } from '../document-table/record-cache.js';
import { observedDialect } from '../observation/observed-dialect.js';
import type { StoreObserver } from '../observation/store-observer.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { postgresDialects } from '../postgres/postgres-dialect.js';
import { sqliteDialect } from '../sqlite/sqlite-dialect.js';
import { sqliteReaders } from '../sqlite/sqlite-readers.js';

/** Tables are known by their definitions (see document-table.ts), so Kysely sees rows of any shape. */
export type Rows = Record<string, any>;

/** The databases that a store runs on. */
export type DatabaseKind = 'sqlite' | 'postgres';

/** Something that reads: the store itself, or a transaction. */
export interface Session {
  readonly db: Kysely<Rows>;
  /**
   * The same database for questions that may take long. A SQLite file: connections of other threads, which can only
   * read, as the one for everything else runs in the thread that serves requests. PostgreSQL: some of the connections.
   */
  readonly longReads: Kysely<Rows>;
  readonly kind: DatabaseKind;
  /** What it has read lately. */
  readonly records: RecordCache;
  /** Where a question is a round trip, and others may want to know something of the same table. */
  readonly lookups?: Finder;
}

/** A database, and what it is spoken to with. */
export interface OpenDatabase extends Session {
  readonly dialect: Dialect;
}

/**
 * What works that share one transaction have in common. Each of them sees what the others have written so far, and none
 * of it is kept unless all of it is.
 */
export interface Mates extends Finder {
  /** Waits until no other of them holds the name, and holds it until this work ends. */
  take(name: string): Promise<void>;
  /** What one of them has found out, for all of them. */
  once<T>(key: string, find: () => Promise<T>): Promise<T>;
  /**
   * Has one statement do what each of them wants done: whoever asks under the same key in one turn of the event loop gets
   * an answer of its own from one `ask` for all, which answers in the order of the items.
   */
  gather<I, O>(key: string, item: I, ask: (items: readonly I[]) => Promise<readonly O[]>): Promise<O>;
}

/** A transaction: reads its own writes, and runs its `afterCommit` functions once everything is durable. */
export interface Tx extends Session {
  readonly db: Transaction<Rows>;
  /** Of a work that shares its transaction with others. */
  readonly mates?: Mates;
  afterCommit(run: () => void): void;
  /**
   * Says whose readers must see what is written, besides those of the project, or the user, that a record belongs to: the
   * one who asked for it, or `EVERYBODY`. Until a replica has it, they read from the primary.
   */
  concerns(owner: string): void;
}

/** Opens `:memory:`, a SQLite file, or a `postgres://` URL. Nothing is read or written before the first question. */
export function openDatabase(url: string, settings: DatabaseSettings, observer?: StoreObserver): OpenDatabase {
  const kind: DatabaseKind = /^postgres(ql)?:\/\//.test(url) ? 'postgres' : 'sqlite';
  const plain = kind === 'postgres' ? postgresDialects(url, settings) : sqliteDialects(url, settings);
  const dialect = observedDialect(plain.all, observer, kind === 'postgres' ? settings.poolSize : 1);
  const db = new Kysely<Rows>({ dialect });
  // What is told of the pool is told of the connections that requests wait for.
  const longReads = plain.longReads
    ? new Kysely<Rows>({
        dialect: observedDialect(plain.longReads, observer && { statement: observer.statement }, settings.longReads),
      })
    : db;
  const lookups = kind === 'postgres' ? new Lookups() : undefined;
  return { db, longReads, kind, dialect, lookups, records: new RecordCache() };
}

/** What a SQLite database is spoken to with; one in memory has a single connection. */
function sqliteDialects(
  url: string,
  settings: DatabaseSettings,
): { readonly all: Dialect; readonly longReads?: Dialect } {
  return {
    all: sqliteDialect(url, settings),
    longReads: url === ':memory:' ? undefined : sqliteReaders(url, settings.longReads),
  };
}

/** Closes a database, what is for long questions first. */
export async function closeDatabase({ db, longReads }: Session): Promise<void> {
  if (longReads !== db) await longReads.destroy();
  await db.destroy();
}
