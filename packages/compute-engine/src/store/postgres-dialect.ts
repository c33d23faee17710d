import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { DatabaseSettings } from './database-settings.js';
import { type PostgresClient, PostgresConnection } from './postgres-connection.js';
import { PostgresPool } from './postgres-pool.js';

const COMMIT = CompiledQuery.raw('commit');
const ROLLBACK = CompiledQuery.raw('rollback');

class PostgresDriver implements Driver {
  readonly #pool: PostgresPool;
  readonly #connections = new WeakMap<PostgresClient, PostgresConnection>();
  readonly #keeping = { works: true };

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const client = await this.#pool.connect();
    // What one session keeps, the next one would not know.
    if (this.#pool.pooled) this.#keeping.works = false;
    let connection = this.#connections.get(client);
    if (!connection) this.#connections.set(client, (connection = new PostgresConnection(client, this.#keeping)));
    return connection;
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    (connection as PostgresConnection).release();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(this.#pool.begin);
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(COMMIT);
  }

  /** A transaction whose connection is gone is undone by the server; the caller hears why it failed in the first place. */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(ROLLBACK).catch(() => {});
  }

  destroy(): Promise<void> {
    return this.#pool.end();
  }
}

/** The Kysely dialect for PostgreSQL, whose connections may be cut at any moment. */
export function postgresDialect(url: string, settings: DatabaseSettings): Dialect {
  const pool = new PostgresPool(url, settings);
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver(pool),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}
