import { createRequire } from 'node:module';
import { CompiledQuery } from 'kysely';
import { DatabaseUnavailable, databaseError } from '../errors/database-unavailable.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { postgresAddresses } from './postgres-addresses.js';
import { ask, type PostgresClient } from './postgres-query.js';

/** What is used of a pool of `pg`. */
interface Pool {
  connect(): Promise<PostgresClient>;
  end(): Promise<void>;
  on(event: 'error', listener: () => void): unknown;
  on(event: 'connect', listener: (client: PostgresClient) => void): unknown;
}

/** What the server has to end a statement before the connection is given up as dead. */
const ANSWER_GRACE_MS = 5000;

/** How a pooler refuses a session that asks for limits, which others would inherit. */
const REFUSED_LIMITS = /unsupported startup parameter/;

/** A host that does not answer, or that answers and takes no changes: another one may. */
function isElsewhere(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && (error.trouble === 'away' || error.trouble === 'read-only');
}

/** The limits of a session, by the names of their parameters. 0 is without limit, and left out. */
function limitsOf(settings: DatabaseSettings): Readonly<Record<string, number>> {
  const limits = {
    statement_timeout: settings.statementTimeoutMs,
    lock_timeout: settings.lockTimeoutMs,
    idle_in_transaction_session_timeout: settings.idleTransactionTimeoutMs,
  };
  return Object.fromEntries(Object.entries(limits).filter(([, ms]) => ms > 0));
}

/**
 * Connections to PostgreSQL. Of several hosts it is the one that takes changes: when that is gone, the others are tried
 * in turn, for each connection that is wanted, until one of them has taken its place. A pooler that does not let sessions
 * have limits is recognized by its refusal; limits are then set for each transaction.
 */
export class PostgresPool {
  readonly #addresses: readonly string[];
  readonly #settings: DatabaseSettings;
  readonly #pools = new Map<string, Pool>();
  readonly #leaders = new WeakSet<PostgresClient>();
  /** Which of the addresses is asked first: the last that answered. */
  #first = 0;
  #pooled = false;
  #begin = CompiledQuery.raw('begin');

  constructor(url: string, settings: DatabaseSettings) {
    this.#addresses = postgresAddresses(url);
    this.#settings = settings;
  }

  /** Whether sessions are somebody else's between transactions. Known when there has been a connection. */
  get pooled(): boolean {
    return this.#pooled;
  }

  /** What begins a transaction. */
  get begin(): CompiledQuery {
    return this.#begin;
  }

  /** A connection to the host that takes changes. Throws {@link DatabaseUnavailable} where there is none. */
  async connect(): Promise<PostgresClient> {
    const first = this.#first;
    for (let tried = 0; ; tried++) {
      const at = (first + tried) % this.#addresses.length;
      try {
        const client = await this.#connectTo(this.#addresses[at]!);
        this.#first = at;
        return client;
      } catch (error) {
        if (!isElsewhere(error) || tried === this.#addresses.length - 1) throw error;
      }
    }
  }

  async end(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.end()));
  }

  async #connectTo(address: string): Promise<PostgresClient> {
    const pooled = this.#pooled;
    try {
      return await this.#leading(await this.#pool(address, pooled).connect());
    } catch (error) {
      if (!pooled && REFUSED_LIMITS.test((error as Error).message)) {
        this.#exchangesSessions();
        return this.#connectTo(address);
      }
      throw databaseError(error);
    }
  }

  #exchangesSessions(): void {
    const limits = Object.entries(limitsOf(this.#settings)).map(([name, ms]) => `set local ${name} = ${ms}`);
    this.#pooled = true;
    this.#begin = CompiledQuery.raw(['begin', ...limits].join('; '));
  }

  /** Of several servers those that follow another one take no changes, until they are promoted. */
  async #leading(client: PostgresClient): Promise<PostgresClient> {
    if (this.#addresses.length === 1 || this.#leaders.has(client)) return client;
    try {
      const { rows } = await ask(client, 'select pg_is_in_recovery() as follows');
      if ((rows[0] as { readonly follows: boolean }).follows) throw new DatabaseUnavailable('read-only');
    } catch (error) {
      client.release(true);
      throw error;
    }
    this.#leaders.add(client);
    return client;
  }

  #pool(address: string, pooled: boolean): Pool {
    const key = `${pooled} ${address}`;
    let pool = this.#pools.get(key);
    if (!pool) this.#pools.set(key, (pool = this.#open(address, pooled)));
    return pool;
  }

  #open(address: string, pooled: boolean): Pool {
    const pg = createRequire(import.meta.url)('pg');
    // 64-bit integers arrive as text; every one we store is below 2^53.
    const types = {
      getTypeParser: (oid: number, format: string) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format)),
    };
    const { statementTimeoutMs, poolSize, poolWaitMs } = this.#settings;
    const pool: Pool = new pg.Pool({
      connectionString: address,
      types,
      max: poolSize,
      connectionTimeoutMillis: poolWaitMs,
      fallback_application_name: 'apistrata',
      keepAlive: true,
      // Statements of a transaction are sent without waiting for the answers to those before.
      pipeline: true,
      ...(pooled ? {} : limitsOf(this.#settings)),
      // A server that has gone without a word never ends a statement.
      query_timeout: statementTimeoutMs && statementTimeoutMs + ANSWER_GRACE_MS,
    });
    // A connection may break while idle or, between two statements, in use. Without listeners that would end the process;
    // with them the pool replaces it, and whoever uses it hears of it from their next statement.
    pool.on('error', () => {});
    pool.on('connect', (client) => client.on('error', () => {}));
    return pool;
  }
}
