import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
} from 'kysely';
import { DatabaseUnavailable, databaseError } from '../errors/database-unavailable.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { SqliteFiles } from './sqlite-files.js';
import { openSqlite, type SqliteHandle, type SqliteStatement } from './sqlite-handle.js';
import { SqliteLog } from './sqlite-log.js';
import { SqliteOwner } from './sqlite-owner.js';
import { StableSqliteQueryCompiler } from './sqlite-query-compiler.js';

interface Prepared {
  readonly statement: SqliteStatement;
  readonly returnsRows: boolean;
  readonly writes: boolean;
}

/** What changes nothing; anything else may. */
const READS = /^\s*(select|values|explain|pragma|begin|commit|rollback|savepoint|release)\b/i;

/** How often a lock of another program is tried again, in milliseconds. */
const LOCK_PAUSE_MS = 20;

/** Turns at the only connection. */
class Turns {
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  async take(): Promise<void> {
    if (this.#taken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#taken = true;
  }

  end(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#taken = false;
  }

  /** Lets others go first for a while. */
  async pass(ms: number): Promise<void> {
    this.end();
    await new Promise((resolve) => setTimeout(resolve, ms));
    await this.take();
  }
}

/** The one connection; each SQL text is prepared once and kept. */
class SqliteConnection implements DatabaseConnection {
  readonly turns = new Turns();
  readonly #handle: SqliteHandle;
  readonly #files: SqliteFiles | undefined;
  readonly #lockTimeoutMs: number;
  readonly #prepared = new Map<string, Prepared>();
  #inTransaction = false;
  /** Why SQLite has undone the transaction of its own accord: what follows would be written at once, each for itself. */
  #undone: unknown;
  #misplaced = false;
  #written = false;

  constructor(handle: SqliteHandle, files: SqliteFiles | undefined, lockTimeoutMs: number) {
    this.#handle = handle;
    this.#files = files;
    this.#lockTimeoutMs = lockTimeoutMs;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#undone) throw this.#undone;
    const begun = Date.now();
    for (;;) {
      try {
        return this.#run(query.sql, query.parameters);
      } catch (thrown) {
        const error = databaseError(thrown);
        if (this.#inTransaction && !this.#handle.isTransaction) this.#undone = error;
        const locked = error instanceof DatabaseUnavailable && error.trouble === 'busy';
        if (!locked || this.#inTransaction || Date.now() - begun >= this.#lockTimeoutMs) throw error;
      }
      // Waiting inside SQLite would stop the whole process; nothing is open here, so others may read meanwhile.
      await this.turns.pass(LOCK_PAUSE_MS);
    }
  }

  async begin(): Promise<void> {
    if (this.#misplaced) this.#checkFiles();
    await this.executeQuery(BEGIN);
    this.#inTransaction = true;
  }

  async commit(): Promise<void> {
    await this.executeQuery(COMMIT);
    this.#inTransaction = false;
    // Only now: files that were there before the commit may have gone while it was written.
    this.#checkFiles();
  }

  /** Leaves nothing open, whatever state an error has left the transaction in. */
  async rollback(): Promise<void> {
    this.#inTransaction = false;
    this.#undone = undefined;
    this.#written = false;
    if (this.#handle.isTransaction) await this.executeQuery(ROLLBACK);
  }

  /** Whether anything was written since it was last asked. */
  takeWritten(): boolean {
    const written = this.#written;
    this.#written = false;
    return written;
  }

  // biome-ignore lint/correctness/useYield: results are never streamed, and the interface asks for a generator
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('results of this database are read by pages, not streamed');
  }

  #checkFiles(): void {
    this.#misplaced = this.#files?.inPlace() === false;
    if (this.#misplaced) throw new DatabaseUnavailable('replaced');
  }

  #run<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    const { statement, returnsRows, writes } = this.#prepare(sql);
    this.#written ||= writes;
    if (returnsRows) return { rows: statement.all(...parameters) as R[] };
    return { rows: [], numAffectedRows: BigInt(statement.run(...parameters).changes) };
  }

  #prepare(sql: string): Prepared {
    let known = this.#prepared.get(sql);
    if (!known) {
      const statement = this.#handle.prepare(sql);
      known = { statement, returnsRows: statement.columns().length > 0, writes: !READS.test(sql) };
      // Filters make texts of their own; the oldest goes when there are many.
      if (this.#prepared.size >= 500) this.#prepared.delete(this.#prepared.keys().next().value!);
      this.#prepared.set(sql, known);
    }
    return known;
  }
}

const BEGIN = CompiledQuery.raw('begin immediate');
const COMMIT = CompiledQuery.raw('commit');
const ROLLBACK = CompiledQuery.raw('rollback');

/**
 * Pages of the log after which a commit merges it into the database, in the thread that serves requests. Whoever has waited for
 * one of some thousands of pages was among the slowest in a hundred; smaller ones merge the same pages more often.
 */
const LOG_PAGES = 2000;

/**
 * A driver with a single connection that its users take in turns. Nothing but SQL is awaited while it is held, so a
 * turn is short; a second connection would only bring lock errors.
 */
class SqliteDriver implements Driver {
  readonly #path: string;
  readonly #settings: DatabaseSettings;
  #owner: SqliteOwner | undefined;
  #handle: SqliteHandle | undefined;
  #connection: SqliteConnection | undefined;
  /** Where a commit is to outlive a power cut. */
  readonly #log: SqliteLog | undefined;

  constructor(path: string, settings: DatabaseSettings) {
    this.#path = path;
    this.#settings = settings;
    if (path !== ':memory:' && settings.durability === 'disk') this.#log = new SqliteLog(path);
  }

  async init(): Promise<void> {
    const isFile = this.#path !== ':memory:';
    try {
      if (isFile) this.#owner = await SqliteOwner.take(this.#path);
      this.#handle = openSqlite(this.#path);
      this.#handle.exec('PRAGMA busy_timeout = 5000; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON;');
      if (isFile) this.#handle.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = ${LOG_PAGES}`);
      // In this journal mode the log is whole without a sync for each commit. What a commit promises, `#log` keeps.
      this.#handle.exec('PRAGMA synchronous = NORMAL');
      // From here on locks are waited for without stopping the process.
      this.#handle.exec('PRAGMA busy_timeout = 0');
    } catch (error) {
      await this.destroy();
      throw databaseError(error);
    }
    const files = isFile ? new SqliteFiles(this.#path) : undefined;
    this.#connection = new SqliteConnection(this.#handle, files, this.#settings.lockTimeoutMs);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const connection = this.#connection!;
    await connection.turns.take();
    return connection;
  }

  /** Resolves when what was written is where it outlives what it has to: nobody hears of success before, and others go on. */
  async releaseConnection(): Promise<void> {
    const connection = this.#connection!;
    const written = connection.takeWritten();
    connection.turns.end();
    if (!written || !this.#log) return;
    await this.#log.sync().catch((error) => {
      throw databaseError(error);
    });
  }

  beginTransaction(connection: DatabaseConnection): Promise<void> {
    return (connection as SqliteConnection).begin();
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return (connection as SqliteConnection).commit();
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return (connection as SqliteConnection).rollback();
  }

  async destroy(): Promise<void> {
    await this.#log?.close();
    this.#handle?.close();
    this.#owner?.release();
  }
}

/** The Kysely dialect for a SQLite file or `:memory:`. */
export function sqliteDialect(path: string, settings: DatabaseSettings): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteDriver(path, settings),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new StableSqliteQueryCompiler(),
  };
}
