import { createRequire } from 'node:module';
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
import { databaseError } from './database-unavailable.js';
import { type PostgresClient, PostgresConnection } from './postgres-connection.js';

interface Pool {
  connect(): Promise<PostgresClient>;
  end(): Promise<void>;
  on(event: 'error', listener: () => void): unknown;
  on(event: 'connect', listener: (client: PostgresClient) => void): unknown;
}

/** What the server has to end a statement before the connection is given up as dead. */
const ANSWER_GRACE_MS = 5000;

const BEGIN = CompiledQuery.raw('begin');
const COMMIT = CompiledQuery.raw('commit');
const ROLLBACK = CompiledQuery.raw('rollback');

class PostgresDriver implements Driver {
  readonly #pool: Pool;
  readonly #connections = new WeakMap<PostgresClient, PostgresConnection>();
  readonly #keeping = { works: true };

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const client = await this.#pool.connect().catch((error) => {
      throw databaseError(error);
    });
    let connection = this.#connections.get(client);
    if (!connection) this.#connections.set(client, (connection = new PostgresConnection(client, this.#keeping)));
    return connection;
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    (connection as PostgresConnection).release();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(BEGIN);
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

function openPool(url: string, settings: DatabaseSettings): Pool {
  const pg = createRequire(import.meta.url)('pg');
  // 64-bit integers arrive as text; every one we store is below 2^53.
  const types = {
    getTypeParser: (oid: number, format: string) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format)),
  };
  const { statementTimeoutMs, idleTransactionTimeoutMs } = settings;
  const pool: Pool = new pg.Pool({
    connectionString: url,
    types,
    max: settings.poolSize,
    connectionTimeoutMillis: settings.poolWaitMs,
    fallback_application_name: 'apistrata',
    keepAlive: true,
    // Statements of a transaction are sent without waiting for the answers to those before.
    pipeline: true,
    // 0 is not sent at all: some poolers refuse sessions that ask for limits.
    statement_timeout: statementTimeoutMs,
    lock_timeout: settings.lockTimeoutMs,
    idle_in_transaction_session_timeout: idleTransactionTimeoutMs,
    // A server that has gone without a word never ends a statement.
    query_timeout: statementTimeoutMs && statementTimeoutMs + ANSWER_GRACE_MS,
  });
  // A connection may break while idle or, between two statements, in use. Without listeners that would end the process;
  // with them the pool replaces it, and whoever uses it hears of it from their next statement.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** The Kysely dialect for PostgreSQL, whose connections may be cut at any moment. */
export function postgresDialect(url: string, settings: DatabaseSettings): Dialect {
  const pool = openPool(url, settings);
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver(pool),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}
