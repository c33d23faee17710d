import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import { Gate } from '../batching/gate.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { PostgresConnection } from './postgres-connection.js';
import { PostgresPool } from './postgres-pool.js';
import type { PostgresClient } from './postgres-query.js';

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

/** Some of the connections of a pool, for questions that may take long: the others are left to those that do not. */
class GatedDriver extends PostgresDriver {
  readonly #gate: Gate;

  constructor(pool: PostgresPool, gate: Gate) {
    super(pool);
    this.#gate = gate;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    await this.#gate.enter();
    try {
      return await super.acquireConnection();
    } catch (error) {
      this.#gate.leave();
      throw error;
    }
  }

  override async releaseConnection(connection: DatabaseConnection): Promise<void> {
    this.#gate.leave();
    await super.releaseConnection(connection);
  }

  /** The pool is not its own. */
  override async destroy(): Promise<void> {}
}

/** One pool of connections to PostgreSQL, which may be cut at any moment, for Kysely. */
export function postgresDialects(url: string, settings: DatabaseSettings): Record<'all' | 'longReads', Dialect> {
  const pool = new PostgresPool(url, settings);
  const gate = new Gate(Math.min(settings.longReads, Math.ceil(settings.poolSize / 2)));
  return {
    all: dialectOf(() => new PostgresDriver(pool)),
    longReads: dialectOf(() => new GatedDriver(pool, gate)),
  };
}

function dialectOf(createDriver: () => Driver): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}
