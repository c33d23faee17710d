import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
} from 'kysely';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import { BufferedConnection } from '../store/buffered-connection.js';
import { StableSqliteQueryCompiler } from './sqlite-query-compiler.js';
import { SqliteReader } from './sqlite-reader.js';

class ReaderConnection extends BufferedConnection {
  readonly reader: SqliteReader;

  constructor(reader: SqliteReader) {
    super();
    this.reader = reader;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return { rows: await this.reader.query<R>(sql, parameters) };
  }
}

const rejectTransaction = () => Promise.reject(new Error('read-only connections do not support transactions'));

/**
 * A driver that starts threads on demand. Each thread executes one query at a time, and queries start in the order of
 * arrival.
 */
class ReaderDriver implements Driver {
  readonly #path: string;
  readonly #max: number;
  readonly #connections = new Set<ReaderConnection>();
  readonly #free: ReaderConnection[] = [];
  readonly #waiting: ((connection: ReaderConnection | Promise<never>) => void)[] = [];
  #closed = false;

  constructor(path: string, max: number) {
    this.#path = path;
    this.#max = max;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    for (let free = this.#free.pop(); free; free = this.#free.pop()) {
      if (free.reader.isUsable) return free;
      this.#connections.delete(free);
    }
    if (this.#connections.size < this.#max) return this.#startReader();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    let available = connection as ReaderConnection;
    if (!available.reader.isUsable) {
      this.#connections.delete(available);
      if (this.#waiting.length === 0 || this.#closed) return;
      available = this.#startReader();
    }
    const nextWaiting = this.#waiting.shift();
    if (nextWaiting) nextWaiting(available);
    else this.#free.push(available);
  }

  beginTransaction = rejectTransaction;
  commitTransaction = rejectTransaction;
  rollbackTransaction = rejectTransaction;

  async destroy(): Promise<void> {
    this.#closed = true;
    for (const end of this.#waiting.splice(0)) end(Promise.reject(new DatabaseUnavailable('unreachable')));
    await Promise.all([...this.#connections].map(({ reader }) => reader.end()));
  }

  #startReader(): ReaderConnection {
    const connection = new ReaderConnection(new SqliteReader(this.#path));
    this.#connections.add(connection);
    return connection;
  }
}

/**
 * Creates the Kysely dialect that executes long queries on a SQLite file in separate threads.
 * @param max the maximum number of threads
 */
export function sqliteReaderDialect(path: string, max: number): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new ReaderDriver(path, max),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new StableSqliteQueryCompiler(),
  };
}
