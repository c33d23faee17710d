import { createRequire } from 'node:module';
import {
  type DatabaseConnection,
  type Dialect,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  type PostgresPool,
  PostgresQueryCompiler,
} from 'kysely';
import type { DatabaseSettings } from './database-settings.js';
import { DatabaseUnavailable, databaseError } from './database-unavailable.js';

/** A connection of `pg`, of which this file needs more than Kysely tells. */
interface Client {
  query(text: string, values: readonly unknown[]): Promise<{ readonly command: string }>;
  release(destroy: boolean): void;
  on(event: 'error', listener: () => void): unknown;
}

interface Pool {
  connect(): Promise<Client>;
  end(): Promise<void>;
  on(event: 'error', listener: () => void): unknown;
  on(event: 'connect', listener: (client: Client) => void): unknown;
}

/** Refusals after which the connection is as good as before: a lock, a time limit, no room. */
const HARMLESS = /^(55P03|57014|53100|53200|53400)$/;

/** What the server has to end a statement before the connection is given up as dead. */
const ANSWER_GRACE_MS = 5000;

/** A connection that is thrown away, not given back, once it has failed. */
class GuardedClient {
  readonly #client: Client;
  #lost: DatabaseUnavailable | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  async query(text: string, values: readonly unknown[] = []): Promise<unknown> {
    if (this.#lost) throw this.#lost;
    try {
      const result = await this.#client.query(text, values);
      // A transaction in which something failed unnoticed ends so, without an error of its own.
      if (text === 'commit' && result.command !== 'COMMIT') throw new DatabaseUnavailable('broken', result);
      return result;
    } catch (error) {
      throw this.#judged(databaseError(error), text);
    }
  }

  release(): void {
    this.#client.release(this.#lost !== undefined);
  }

  #judged(error: unknown, text: string): unknown {
    if (error instanceof DatabaseUnavailable) {
      const { code } = (error.cause ?? {}) as { code?: unknown };
      if (!HARMLESS.test(String(code))) this.#lost = error;
    }
    // Of no use to the next one, in whatever state it is.
    if (text === 'rollback') this.#lost ??= new DatabaseUnavailable('away', error);
    return error;
  }
}

class GuardedDriver extends PostgresDriver {
  /** A transaction whose connection is gone is undone by the server; the caller hears why it failed in the first place. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {});
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
  const guards = new WeakMap<Client, GuardedClient>();
  const connect = async (): Promise<GuardedClient> => {
    const client = await pool.connect().catch((error) => {
      throw databaseError(error);
    });
    let guard = guards.get(client);
    if (!guard) guards.set(client, (guard = new GuardedClient(client)));
    return guard;
  };
  // Kysely's pool streams too; we do not.
  const guarded = { connect, end: () => pool.end() } as unknown as PostgresPool;
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new GuardedDriver({ pool: guarded }),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}
