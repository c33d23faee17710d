import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
} from 'rate-limiter-flexible';
import type { NamedLimit } from './limits.js';

/** The part of an ioredis client that the rate limiter uses. */
export interface RateLimitRedis {
  readonly status: string;
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): void;
}

/** The part of a `pg` pool that the rate limiter uses. */
export interface RateLimitPool {
  query(query: { text: string; values?: unknown[] }): Promise<unknown>;
}

/** Where requests are counted: in memory, or in a database that several processes share. */
export type RateLimitStore = 'memory' | { readonly redis: RateLimitRedis } | { readonly postgres: RateLimitPool };

const TABLE_NAME = 'apistrata_rate_limits';

/** The table is unlogged, because its counts do not have to survive a database crash. */
const SCHEMA = `
create unlogged table if not exists ${TABLE_NAME} (key varchar(255) primary key, points integer not null default 0, expire bigint);
create index if not exists ${TABLE_NAME}_expire on ${TABLE_NAME} (expire)`;

/** The PostgreSQL errors that occur if another process creates the same table or index concurrently. */
const ALREADY_EXISTS_CODES = new Set(['23505', '42P07']);

/** Creates a counter that this process keeps in memory. */
export function memoryCounter({ name, requests, windowSeconds }: NamedLimit): RateLimiterAbstract {
  return new RateLimiterMemory({ keyPrefix: name, points: requests, duration: windowSeconds });
}

/**
 * Creates a counter in a database that several processes share. Exceeded limits are cached in memory, so that a flood
 * of requests does not reach the database.
 */
function sharedCounter(store: Exclude<RateLimitStore, 'memory'>, limit: NamedLimit): RateLimiterAbstract {
  const { name, requests, windowSeconds } = limit;
  const options = {
    keyPrefix: `rate-limit:${name}`,
    points: requests,
    duration: windowSeconds,
    inMemoryBlockOnConsumed: requests,
  };
  if ('redis' in store)
    return new RateLimiterRedis({ ...options, storeClient: store.redis, rejectIfRedisNotReady: true });
  const table = { storeType: 'pool', tableName: TABLE_NAME, tableCreated: true };
  return new RateLimiterPostgres({ ...options, ...table, storeClient: store.postgres });
}

/** Returns a promise that rejects if the response does not arrive in time. A late response is ignored. */
function withTimeout<T>(response: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no response within ${ms} ms`)), ms);
    response.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Creates counters in a shared store. The PostgreSQL table is created on first use; failed attempts are retried. */
export class SharedCounters {
  readonly #store: Exclude<RateLimitStore, 'memory'>;
  readonly #timeoutMs: number;
  #ready: Promise<void> | undefined;

  constructor(store: Exclude<RateLimitStore, 'memory'>, timeoutMs: number) {
    this.#store = store;
    this.#timeoutMs = timeoutMs;
  }

  /** Returns a function that counts one request for a key. It rejects with an `Error` if the store is unavailable. */
  counterFor(limit: NamedLimit): RateLimiterAbstract['consume'] {
    const counter = sharedCounter(this.#store, limit);
    const { postgres } = this.#store as { readonly postgres?: RateLimitPool };
    if (!postgres) return (key) => withTimeout(counter.consume(key), this.#timeoutMs);
    return (key) => {
      this.#ready ??= this.#prepare(postgres);
      return withTimeout(
        this.#ready.then(() => counter.consume(key)),
        this.#timeoutMs,
      );
    };
  }

  async #prepare(pool: RateLimitPool): Promise<void> {
    try {
      await pool.query({ text: SCHEMA });
    } catch (error) {
      if (ALREADY_EXISTS_CODES.has(String((error as { code?: unknown }).code))) return;
      this.#ready = undefined;
      throw error;
    }
  }
}
