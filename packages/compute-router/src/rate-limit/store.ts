import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
} from 'rate-limiter-flexible';
import type { NamedLimit } from './limits.js';

/** What is needed of a client of ioredis. */
export interface RateLimitRedis {
  readonly status: string;
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): void;
}

/** What is needed of a pool of `pg`. */
export interface RateLimitPool {
  query(query: { text: string; values?: unknown[] }): Promise<unknown>;
}

/** Where requests are counted; what processes share, they count together. */
export type RateLimitStore = 'memory' | { readonly redis: RateLimitRedis } | { readonly postgres: RateLimitPool };

const TABLE = 'apistrata_rate_limits';

/** Lost in a crash of the database, as it may be: nothing of it is written to the log. */
const SCHEMA = `
create unlogged table if not exists ${TABLE} (key varchar(255) primary key, points integer not null default 0, expire bigint);
create index if not exists ${TABLE}_expire on ${TABLE} (expire)`;

/** Several processes that create the same thing at once: all but one hear of it so. */
const CREATED_MEANWHILE = new Set(['23505', '42P07']);

/** A counter of this process alone. */
export function ownCounter({ name, requests, windowSeconds }: NamedLimit): RateLimiterAbstract {
  return new RateLimiterMemory({ keyPrefix: name, points: requests, duration: windowSeconds });
}

/** A counter that processes share. What is refused is remembered here, so that a flood does not reach the store. */
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

/** Rejects when an answer takes too long; a late one is nobody's any more. */
function inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** What counts in a store: made ready on first use, again and again until that works. */
export class SharedCounters {
  readonly #store: Exclude<RateLimitStore, 'memory'>;
  readonly #timeoutMs: number;
  #ready: Promise<void> | undefined;

  constructor(store: Exclude<RateLimitStore, 'memory'>, timeoutMs: number) {
    this.#store = store;
    this.#timeoutMs = timeoutMs;
  }

  /** The function that counts one request of a key. Rejects with an Error when the store is away. */
  counting(limit: NamedLimit): RateLimiterAbstract['consume'] {
    const counter = sharedCounter(this.#store, limit);
    const { postgres } = this.#store as { readonly postgres?: RateLimitPool };
    if (!postgres) return (key) => inTime(counter.consume(key), this.#timeoutMs);
    return (key) => {
      this.#ready ??= this.#prepare(postgres);
      return inTime(
        this.#ready.then(() => counter.consume(key)),
        this.#timeoutMs,
      );
    };
  }

  async #prepare(pool: RateLimitPool): Promise<void> {
    try {
      await pool.query({ text: SCHEMA });
    } catch (error) {
      if (CREATED_MEANWHILE.has(String((error as { code?: unknown }).code))) return;
      this.#ready = undefined;
      throw error;
    }
  }
}
