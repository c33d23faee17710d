import { createRequire } from 'node:module';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';

interface Statement {
  all(...parameters: unknown[]): unknown[];
  run(...parameters: unknown[]): { changes: number | bigint };
}

/** What both SQLite libraries offer; `returnsRows` is the one thing they tell in different ways. */
interface SqliteHandle {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  close(): void;
  returnsRows(statement: Statement): boolean;
}

interface NodeStatement extends Statement {
  columns(): unknown[];
}

/** Opens a database with `node:sqlite` where this Node has it, with better-sqlite3 otherwise. */
function openHandle(path: string): SqliteHandle {
  const builtin = process.getBuiltinModule?.('node:sqlite') as any;
  if (builtin?.StatementSync.prototype.columns) {
    const db = new builtin.DatabaseSync(path);
    return {
      prepare: (sql) => db.prepare(sql),
      exec: (sql) => db.exec(sql),
      close: () => db.close(),
      returnsRows: (statement) => (statement as NodeStatement).columns().length > 0,
    };
  }
  const BetterSqlite = createRequire(import.meta.url)('better-sqlite3');
  const db = new BetterSqlite(path);
  return {
    prepare: (sql) => db.prepare(sql),
    exec: (sql) => db.exec(sql),
    close: () => db.close(),
    returnsRows: (statement) => (statement as Statement & { reader: boolean }).reader,
  };
}

interface Prepared {
  readonly statement: Statement;
  readonly returnsRows: boolean;
}

/** One connection; each SQL text is prepared once and kept. */
class SqliteConnection implements DatabaseConnection {
  readonly #handle: SqliteHandle;
  readonly #prepared = new Map<string, Prepared>();

  constructor(handle: SqliteHandle) {
    this.#handle = handle;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { statement, returnsRows } = this.#prepare(query.sql);
    if (returnsRows) return { rows: statement.all(...query.parameters) as R[] };
    return { rows: [], numAffectedRows: BigInt(statement.run(...query.parameters).changes) };
  }

  // biome-ignore lint/correctness/useYield: results are never streamed, and the interface asks for a generator
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('results of this database are read by pages, not streamed');
  }

  #prepare(sql: string): Prepared {
    let known = this.#prepared.get(sql);
    if (!known) {
      const statement = this.#handle.prepare(sql);
      known = { statement, returnsRows: this.#handle.returnsRows(statement) };
      // Filters make texts of their own; the oldest goes when there are many.
      if (this.#prepared.size >= 500) this.#prepared.delete(this.#prepared.keys().next().value!);
      this.#prepared.set(sql, known);
    }
    return known;
  }
}

/**
 * A driver with a single connection that its users take in turns. Nothing but SQL is awaited while it is held, so a
 * turn is short; a second connection would only bring lock errors.
 */
class SqliteDriver implements Driver {
  readonly #handle: SqliteHandle;
  readonly #connection: SqliteConnection;
  readonly #waiting: (() => void)[] = [];
  #busy = false;

  constructor(path: string) {
    this.#handle = openHandle(path);
    if (path !== ':memory:') this.#handle.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 8000;');
    this.#handle.exec('PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000; PRAGMA temp_store = MEMORY;');
    this.#connection = new SqliteConnection(this.#handle);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#busy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#busy = true;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#busy = false;
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async destroy(): Promise<void> {
    this.#handle.close();
  }
}

/** The Kysely dialect for a SQLite file or `:memory:`. */
export function sqliteDialect(path: string): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteDriver(path),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}
