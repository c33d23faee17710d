import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import { Semaphore } from '../batching/semaphore.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { PostgresConnection } from './postgres-connection.js';
import { PostgresPool } from './postgres-pool.js';
import type { PostgresClient } from './postgres-query.js';

const COMMIT_QUERY = CompiledQuery.raw('commit');
const ROLLBACK_QUERY = CompiledQuery.raw('rollback');

class PostgresDriver implements Driver {
  readonly #pool: PostgresPool;
  readonly #connections = new WeakMap<PostgresClient, PostgresConnection>();
  readonly #preparation = { isSupported: true };

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const client = await this.#pool.connect();
    // Behind a pooler, the next session would not contain the prepared statements.
    if (this.#pool.pooled) this.#preparation.isSupported = false;
    let connection = this.#connections.get(client);
    if (!connection) this.#connections.set(client, (connection = new PostgresConnection(client, this.#preparation)));
    return connection;
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    (connection as PostgresConnection).release();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(this.#pool.begin);
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(COMMIT_QUERY);
  }

  /**
   * Rolls back. Errors are ignored, because the server rolls back if the connection is lost, and because the caller
   * receives the original error.
   */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(ROLLBACK_QUERY).catch(() => {});
  }

  destroy(): Promise<void> {
    return this.#pool.end();
  }
}

/** A driver for long queries that uses only some of the pool's connections. The others remain for short queries. */
class LongReadDriver extends PostgresDriver {
  readonly #semaphore: Semaphore;

  constructor(pool: PostgresPool, semaphore: Semaphore) {
    super(pool);
    this.#semaphore = semaphore;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    await this.#semaphore.enter();
    try {
      return await super.acquireConnection();
    } catch (error) {
      this.#semaphore.leave();
      throw error;
    }
  }

  override async releaseConnection(connection: DatabaseConnection): Promise<void> {
    this.#semaphore.leave();
    await super.releaseConnection(connection);
  }

  /** A no-op, because the dialect for short queries closes the pool. */
  override async destroy(): Promise<void> {}
}

/** Creates the Kysely dialects that share one PostgreSQL connection pool. The pool replaces lost connections. */
export function postgresDialects(url: string, settings: DatabaseSettings): Record<'all' | 'longReads', Dialect> {
  const pool = new PostgresPool(url, settings);
  const semaphore = new Semaphore(Math.min(settings.longReads, Math.ceil(settings.poolSize / 2)));
  return {
    all: createDialect(() => new PostgresDriver(pool)),
    longReads: createDialect(() => new LongReadDriver(pool, semaphore)),
  };
}

function createDialect(createDriver: () => Driver): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}
