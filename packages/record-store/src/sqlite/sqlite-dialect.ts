import { setTimeout as sleep } from 'node:timers/promises';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
} from 'kysely';
import { Semaphore } from '../batching/semaphore.js';
import type { SharedReadConnection } from '../batching/shared-reads.js';
import { DatabaseUnavailable, databaseError } from '../errors/database-unavailable.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { BufferedConnection } from '../store/buffered-connection.js';
import { SqliteFiles } from './sqlite-files.js';
import { openSqlite, type SqliteHandle, type SqliteStatement } from './sqlite-handle.js';
import { SqliteLog } from './sqlite-log.js';
import { SqliteOwner } from './sqlite-owner.js';
import { StableSqliteQueryCompiler } from './sqlite-query-compiler.js';
import { SqliteRowReader } from './sqlite-rows.js';

interface PreparedStatement {
  readonly statement: SqliteStatement;
  /** Reads the statement's rows; undefined if the statement returns no rows. */
  readonly rows: SqliteRowReader | undefined;
  readonly writes: boolean;
}

/**
 * Matches statements that define tables or indexes. They are not prepared, because they run once, and a prepared
 * statement occupies several kilobytes until the next garbage collection.
 */
const DDL_STATEMENT = /^\s*(create|alter|drop)\b/i;

/** Matches statements that do not change data. Any other statement may change data. */
const READ_STATEMENT = /^\s*(select|values|explain|pragma|begin|commit|rollback|savepoint|release)\b/i;

/** The interval between attempts to acquire a lock that another program holds, in milliseconds. */
const LOCK_RETRY_INTERVAL_MS = 20;

/** The only connection to a SQLite database. Each SQL string is prepared once and cached. */
class SqliteConnection extends BufferedConnection implements SharedReadConnection {
  /** Allows one caller at a time to use this connection. */
  readonly mutex = new Semaphore(1);
  readonly #handle: SqliteHandle;
  readonly #files: SqliteFiles | undefined;
  readonly #lockTimeoutMs: number;
  readonly #prepared = new Map<string, PreparedStatement>();
  #inTransaction = false;
  /**
   * The error after which SQLite rolled back the transaction on its own. Later statements in the transaction throw this
   * error, because they would otherwise be committed one by one.
   */
  #rollbackError: unknown;
  #areFilesReplaced = false;
  #hasWritten = false;

  constructor(handle: SqliteHandle, files: SqliteFiles | undefined, lockTimeoutMs: number) {
    super();
    this.#handle = handle;
    this.#files = files;
    this.#lockTimeoutMs = lockTimeoutMs;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#rollbackError) throw this.#rollbackError;
    const startedAt = Date.now();
    for (;;) {
      try {
        return this.#run(query.sql, query.parameters);
      } catch (thrown) {
        const error = databaseError(thrown);
        if (this.#inTransaction && !this.#handle.isTransaction) this.#rollbackError = error;
        const isLocked = error instanceof DatabaseUnavailable && error.failure === 'busy';
        if (!isLocked || this.#inTransaction || Date.now() - startedAt >= this.#lockTimeoutMs) throw error;
      }
      // Waiting inside SQLite would block the whole process. No transaction is open at this point, so other callers may
      // use the connection in the meantime.
      this.mutex.leave();
      await sleep(LOCK_RETRY_INTERVAL_MS);
      await this.mutex.enter();
    }
  }

  /**
   * Starts several statements in one read transaction, which locks the database only once. The statements do not wait
   * for locks.
   */
  readTogether<T>(start: () => T): T {
    this.#run(BEGIN_QUERY.sql, []);
    this.#inTransaction = true;
    try {
      return start();
    } finally {
      this.#inTransaction = false;
      this.#rollbackError = undefined;
      if (this.#handle.isTransaction) this.#run(COMMIT_QUERY.sql, []);
    }
  }

  async begin(): Promise<void> {
    if (this.#areFilesReplaced) this.#checkFiles();
    await this.executeQuery(BEGIN_IMMEDIATE_QUERY);
    this.#inTransaction = true;
  }

  async commit(): Promise<void> {
    await this.executeQuery(COMMIT_QUERY);
    this.#inTransaction = false;
    // The files are checked after the commit, because they may have been removed during the commit.
    this.#checkFiles();
  }

  /** Rolls back the transaction, unless an error has already ended it. */
  async rollback(): Promise<void> {
    this.#inTransaction = false;
    this.#rollbackError = undefined;
    this.#hasWritten = false;
    if (this.#handle.isTransaction) await this.executeQuery(ROLLBACK_QUERY);
  }

  /** Returns whether anything was written since the last call. */
  hasWrittenSinceLastCall(): boolean {
    const hasWritten = this.#hasWritten;
    this.#hasWritten = false;
    return hasWritten;
  }

  #checkFiles(): void {
    this.#areFilesReplaced = this.#files?.areInPlace() === false;
    if (this.#areFilesReplaced) throw new DatabaseUnavailable('replaced');
  }

  #run<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    const prepared = this.#prepare(sql);
    if (!prepared) {
      this.#hasWritten = true;
      this.#handle.exec(sql);
      return { rows: [] };
    }
    const { statement, rows, writes: mayWrite } = prepared;
    this.#hasWritten ||= mayWrite;
    if (rows) return { rows: rows.all(parameters) as R[] };
    return { rows: [], numAffectedRows: BigInt(statement.run(...parameters).changes) };
  }

  /** Returns a prepared statement; undefined for statements that define tables or indexes. */
  #prepare(sql: string): PreparedStatement | undefined {
    let cached = this.#prepared.get(sql);
    if (!cached) {
      if (DDL_STATEMENT.test(sql)) return undefined;
      const statement = this.#handle.prepare(sql);
      cached = { statement, rows: SqliteRowReader.of(statement), writes: !READ_STATEMENT.test(sql) };
      // Filters produce many different SQL strings, so the cache has a limit: the oldest statement is evicted.
      if (this.#prepared.size >= 500) this.#prepared.delete(this.#prepared.keys().next().value ?? sql);
      this.#prepared.set(sql, cached);
    }
    return cached;
  }
}

const BEGIN_QUERY = CompiledQuery.raw('begin');
const BEGIN_IMMEDIATE_QUERY = CompiledQuery.raw('begin immediate');
const COMMIT_QUERY = CompiledQuery.raw('commit');
const ROLLBACK_QUERY = CompiledQuery.raw('rollback');

/**
 * The number of log pages after which a commit merges the log into the database, which blocks the thread that serves
 * requests. Merges of several thousand pages dominated the 99th percentile of latency; smaller merges write the same
 * pages more often.
 */
const CHECKPOINT_PAGES = 2000;

/**
 * A driver with a single connection that callers use in turn. A caller awaits only SQL while it holds the connection,
 * so each use is short. A second connection would only cause lock errors.
 */
class SqliteDriver implements Driver {
  readonly #path: string;
  readonly #settings: DatabaseSettings;
  #owner: SqliteOwner | undefined;
  #handle: SqliteHandle | undefined;
  #connection: SqliteConnection | undefined;
  /** Set if commits must survive a power failure. */
  readonly #log: SqliteLog | undefined;

  constructor(path: string, settings: DatabaseSettings) {
    this.#path = path;
    this.#settings = settings;
    if (path !== ':memory:' && settings.durability === 'disk') this.#log = new SqliteLog(path);
  }

  async init(): Promise<void> {
    const isFile = this.#path !== ':memory:';
    try {
      if (isFile) this.#owner = await SqliteOwner.acquire(this.#path);
      this.#handle = openSqlite(this.#path);
      this.#handle.exec('PRAGMA busy_timeout = 5000; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON;');
      // Each of the many small tables and indexes of an in-memory database would otherwise occupy a page of 4 KiB.
      this.#handle.exec(
        isFile
          ? `PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`
          : 'PRAGMA page_size = 1024',
      );
      // In WAL mode, the log is consistent without a sync per commit. `#log` makes commits durable.
      this.#handle.exec('PRAGMA synchronous = NORMAL');
      // From here on, waiting for a lock inside SQLite would block the whole process.
      this.#handle.exec('PRAGMA busy_timeout = 0');
    } catch (error) {
      await this.destroy();
      throw databaseError(error);
    }
    const files = isFile ? new SqliteFiles(this.#path) : undefined;
    this.#connection = new SqliteConnection(this.#handle, files, this.#settings.lockTimeoutMs);
  }

  #requireConnection(): SqliteConnection {
    if (!this.#connection) throw new TypeError('the SQLite driver is not open');
    return this.#connection;
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const connection = this.#requireConnection();
    const lockAcquisition = connection.mutex.enter();
    if (lockAcquisition) await lockAcquisition;
    return connection;
  }

  /**
   * Resolves when the writes are as durable as required, so that success is not reported earlier. Other callers use the
   * connection in the meantime.
   */
  async releaseConnection(): Promise<void> {
    const connection = this.#requireConnection();
    const hasWritten = connection.hasWrittenSinceLastCall();
    connection.mutex.leave();
    if (!hasWritten || !this.#log) return;
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

/** Creates the Kysely dialect for a SQLite file or `:memory:`. */
export function sqliteDialect(path: string, settings: DatabaseSettings): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteDriver(path, settings),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new StableSqliteQueryCompiler(),
  };
}
