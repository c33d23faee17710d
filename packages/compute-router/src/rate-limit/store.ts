import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
} from 'rate-limiter-flexible';
import type { NamedLimit } from './limits.js';

/** The required methods of an ioredis client. */
export interface RateLimitRedis {
  readonly status: string;
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): void;
}

/** The required methods of a `pg` pool. */
export interface RateLimitPool {
  query(query: { text: string; values?: unknown[] }): Promise<unknown>;
}

/** Where requests are counted. Processes that share a store count together. */
export type RateLimitStore = 'memory' | { readonly redis: RateLimitRedis } | { readonly postgres: RateLimitPool };

const TABLE = 'apistrata_rate_limits';

/** The table is unlogged, because the counts need not survive a crash of the database. */
const SCHEMA = `
create unlogged table if not exists ${TABLE} (key varchar(255) primary key, points integer not null default 0, expire bigint);
create index if not exists ${TABLE}_expire on ${TABLE} (expire)`;

/** PostgreSQL error codes for processes that lose a race to create the same objects. */
const ALREADY_EXISTS = new Set(['23505', '42P07']);

/** Creates a counter in the memory of this process. */
export function memoryCounter({ name, requests, windowSeconds }: NamedLimit): RateLimiterAbstract {
  return new RateLimiterMemory({ keyPrefix: name, points: requests, duration: windowSeconds });
}

/**
 * Creates a counter that processes share. Exceeded limits are cached in memory, so that a flood does not reach the store.
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
  const table = { storeType: 'pool', tableName: TABLE, tableCreated: true };
  return new RateLimiterPostgres({ ...options, ...table, storeClient: store.postgres });
}

/** Rejects if a response takes too long; a late response is ignored. */
function withTimeout<T>(response: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no response within ${ms} ms`)), ms);
    response.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Counters in a store. The store is prepared on first use, and preparation is repeated until it succeeds. */
export class SharedCounters {
  readonly #store: Exclude<RateLimitStore, 'memory'>;
  readonly #timeoutMs: number;
  #ready: Promise<void> | undefined;

  constructor(store: Exclude<RateLimitStore, 'memory'>, timeoutMs: number) {
    this.#store = store;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Returns the function that counts one request of a key. The function rejects with an Error if the store is
   * unavailable.
   */
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
      if (ALREADY_EXISTS.has(String((error as { code?: unknown }).code))) return;
      this.#ready = undefined;
      throw error;
    }
  }
}
