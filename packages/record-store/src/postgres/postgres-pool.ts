import { CompiledQuery } from 'kysely';
import { DatabaseUnavailable, databaseError } from '../errors/database-unavailable.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { loadPg } from './load-pg.js';
import { postgresAddresses } from './postgres-addresses.js';
import { executeStatement, type PostgresClient } from './postgres-query.js';
import { typeParsers } from './postgres-types.js';

/** The part of a `pg` pool that this module uses. */
interface Pool {
  connect(): Promise<PostgresClient>;
  end(): Promise<void>;
  on(event: 'error', listener: () => void): unknown;
  on(event: 'connect', listener: (client: PostgresClient) => void): unknown;
}

/** Additional time for the server to cancel a statement, before the client treats the connection as lost. */
const CANCELLATION_GRACE_MS = 5000;

/** Matches a pooler's error for session limits, which the pooler rejects because later clients would inherit them. */
const UNSUPPORTED_LIMITS_ERROR = /unsupported startup parameter/;

/** Returns whether another host may succeed, because this host does not respond or does not accept writes. */
function isServerUnusable(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && (error.failure === 'unreachable' || error.failure === 'read-only');
}

/** Returns a session's limits, keyed by PostgreSQL parameter name. A value of 0 means no limit and is omitted. */
function sessionLimitsOf(settings: DatabaseSettings): Readonly<Record<string, number>> {
  const limits = {
    statement_timeout: settings.statementTimeoutMs,
    lock_timeout: settings.lockTimeoutMs,
    idle_in_transaction_session_timeout: settings.idleTransactionTimeoutMs,
  };
  return Object.fromEntries(Object.entries(limits).filter(([, ms]) => ms > 0));
}

/**
 * A pool of PostgreSQL connections. If the URL names several hosts, the pool uses the host that accepts writes. If that
 * host fails, each new connection tries the other hosts in turn, until one of them has been promoted. A pooler that
 * rejects session limits is recognized by its error, and the limits are then set in each transaction.
 */
export class PostgresPool {
  readonly #addresses: readonly string[];
  readonly #settings: DatabaseSettings;
  readonly #pools = new Map<string, Pool>();
  readonly #primaries = new WeakSet<PostgresClient>();
  /** Index of the host that is tried first, which is the last host that accepted a connection. */
  #firstIndex = 0;
  #pooled = false;
  #begin = CompiledQuery.raw('begin');

  constructor(url: string, settings: DatabaseSettings) {
    this.#addresses = postgresAddresses(url);
    this.#settings = settings;
  }

  /** Whether a pooler may switch sessions between transactions. This is known only after the first connection. */
  get pooled(): boolean {
    return this.#pooled;
  }

  /** The statements that begin a transaction. */
  get begin(): CompiledQuery {
    return this.#begin;
  }

  /**
   * Opens a connection to the host that accepts writes.
   *
   * @throws {@link DatabaseUnavailable} if no host accepts writes
   */
  async connect(): Promise<PostgresClient> {
    const firstIndex = this.#firstIndex;
    for (let attempt = 0; ; attempt++) {
      const at = (firstIndex + attempt) % this.#addresses.length;
      try {
        const client = await this.#connectTo(this.#addresses[at] as string);
        this.#firstIndex = at;
        return client;
      } catch (error) {
        if (!isServerUnusable(error) || attempt === this.#addresses.length - 1) throw error;
      }
    }
  }

  async end(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.end()));
  }

  async #connectTo(address: string): Promise<PostgresClient> {
    const pooled = this.#pooled;
    try {
      return await this.#requirePrimary(await this.#pool(address, pooled).connect());
    } catch (error) {
      if (!pooled && UNSUPPORTED_LIMITS_ERROR.test((error as Error).message)) {
        this.#switchToSharedSessions();
        return this.#connectTo(address);
      }
      throw databaseError(error);
    }
  }

  #switchToSharedSessions(): void {
    const limits = Object.entries(sessionLimitsOf(this.#settings)).map(([name, ms]) => `set local ${name} = ${ms}`);
    this.#pooled = true;
    this.#begin = CompiledQuery.raw(['begin', ...limits].join('; '));
  }

  /** Throws for a standby server, which does not accept writes until it is promoted. */
  async #requirePrimary(client: PostgresClient): Promise<PostgresClient> {
    if (this.#addresses.length === 1 || this.#primaries.has(client)) return client;
    try {
      const { rows } = await executeStatement(client, 'select pg_is_in_recovery() as follows');
      if ((rows[0] as { readonly follows: boolean }).follows) throw new DatabaseUnavailable('read-only');
    } catch (error) {
      client.release(true);
      throw error;
    }
    this.#primaries.add(client);
    return client;
  }

  #pool(address: string, pooled: boolean): Pool {
    const key = `${pooled} ${address}`;
    let pool = this.#pools.get(key);
    if (!pool) this.#pools.set(key, (pool = this.#openPool(address, pooled)));
    return pool;
  }

  #openPool(address: string, pooled: boolean): Pool {
    const pg = loadPg(import.meta.url);
    const { statementTimeoutMs, poolSize, poolWaitMs } = this.#settings;
    const pool: Pool = new pg.Pool({
      connectionString: address,
      types: typeParsers(pg),
      max: poolSize,
      connectionTimeoutMillis: poolWaitMs,
      fallback_application_name: 'apistrata',
      keepAlive: true,
      // Sends a transaction's statements without waiting for earlier results.
      pipeline: true,
      ...(pooled ? {} : sessionLimitsOf(this.#settings)),
      // Client-side timeout, because a server that fails silently never cancels a statement.
      query_timeout: statementTimeoutMs && statementTimeoutMs + CANCELLATION_GRACE_MS,
    });
    // A connection may break while it is idle or between two statements. Without a listener, its error event would end
    // the process. With a listener, the pool replaces the connection, and the next statement fails with the error.
    pool.on('error', () => {});
    pool.on('connect', (client) => client.on('error', () => {}));
    return pool;
  }
}
