import type { Caller } from '@apistrata/compute-engine';
import type { RateLimiter } from '@apistrata/compute-router';
import type { CallerRateLimiter, RateLimit, RateLimitStore } from '@apistrata/compute-router/rate-limit';
import type { Logger } from 'pino';
import { isSqliteFile } from './database-url.js';
import type { Options } from './options.js';
import { StartError } from './start-error.js';

const LIMIT_PATTERN = /^(user|project)=(\d{1,9})\/(\d{0,6})([smhd])$/;
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** The longest period of a rate limit, in seconds. JavaScript timers support less than 25 days. */
const MAX_WINDOW_SECONDS = 20 * 86_400;

function rateLimitFrom(spec: string): RateLimit & { readonly name: string } {
  const [, per, requests, count, unit] = LIMIT_PATTERN.exec(spec) ?? [];
  const windowSeconds = Number(count || 1) * (UNIT_SECONDS[unit ?? ''] ?? 0);
  if (windowSeconds < 1 || windowSeconds > MAX_WINDOW_SECONDS || Number(requests) < 1)
    throw new StartError(
      `--rate-limit is '${spec}': it must be user=N/TIME or project=N/TIME, such as user=600/m or project=100/10s; at most 20d`,
    );
  return { per: per as RateLimit['per'], requests: Number(requests), windowSeconds, name: `${per}/${count}${unit}` };
}

/** Parses the rate limits from `--rate-limit`. @throws StartError for an invalid limit */
export function rateLimitsFrom({ 'rate-limit': specs }: Pick<Options, 'rate-limit'>): readonly RateLimit[] {
  const limits = specs.map(rateLimitFrom);
  const limitNames = limits.map(({ name }) => name);
  const duplicate = limitNames.find((name, index) => limitNames.indexOf(name) !== index);
  if (duplicate) throw new StartError(`--rate-limit contains ${duplicate} twice: remove one of them`);
  return limits;
}

/** Checks `--rate-limit-store`. @throws StartError */
export function checkRateLimitStore({ 'rate-limit-store': store, db }: Options): void {
  if (store === 'database' && (isSqliteFile(db) || db === ':memory:'))
    throw new StartError(
      '--rate-limit-store database needs --db postgres://...: with SQLite there is one server process, which counts in memory',
    );
  if (store === 'database' && /^\w+:\/\/[^/?]*,/.test(db))
    throw new StartError(
      '--rate-limit-store database needs a single host in --db: with several hosts, use redis://HOST:PORT',
    );
  if (store !== 'memory' && store !== 'database' && !/^rediss?:\/\//.test(store))
    throw new StartError(`--rate-limit-store is '${store}': it must be memory, database or redis://HOST:PORT`);
}

/** A store that counts requests, and the function that closes it. */
interface StoreConnection {
  readonly store: RateLimitStore;
  readonly close: () => Promise<void>;
}

/** If the store does not respond within this time, it is treated as unavailable. */
const STORE_TIMEOUT_MS = 500;

async function openStore({ 'rate-limit-store': store, db }: Options): Promise<StoreConnection> {
  if (store === 'memory') return { store, close: async () => {} };
  if (store === 'database') {
    const { default: pg } = await import('pg');
    const pool = new pg.Pool({
      connectionString: db,
      max: 4,
      connectionTimeoutMillis: STORE_TIMEOUT_MS,
      query_timeout: STORE_TIMEOUT_MS,
      application_name: 'apistrata',
    });
    // Without a listener, a broken idle connection would end the process. The next query reports the error.
    pool.on('error', () => {});
    return { store: { postgres: pool }, close: () => pool.end() };
  }
  const { Redis } = await import('ioredis');
  const redis = new Redis(store, { enableOfflineQueue: false, maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
  return { store: { redis }, close: async () => redis.disconnect() };
}

/** The server's rate limits, which SIGHUP may change. Setting the first limit loads the packages for rate limiting. */
export class RateLimits implements RateLimiter {
  readonly #options: Options;
  readonly #log: Logger;
  #limiter: CallerRateLimiter | undefined;
  #storeConnection: StoreConnection | undefined;

  constructor(options: Options, log: Logger) {
    this.#options = options;
    this.#log = log;
  }

  count(caller: Caller) {
    return this.#limiter?.count(caller);
  }

  /** Replaces the limits. */
  async apply(limits: readonly RateLimit[]): Promise<void> {
    if (!this.#limiter && limits.length > 0) this.#limiter = await this.#createLimiter();
    this.#limiter?.reload(limits);
  }

  async close(): Promise<void> {
    await this.#storeConnection?.close();
  }

  async #createLimiter(): Promise<CallerRateLimiter> {
    const { rateLimiter } = await import('@apistrata/compute-router/rate-limit');
    const exemptRoles = new Set(this.#options['rate-limit-exempt']);
    this.#storeConnection = await openStore(this.#options);
    return rateLimiter({
      limits: [],
      store: this.#storeConnection.store,
      storeTimeoutMs: STORE_TIMEOUT_MS,
      exempt: ({ roles }) => exemptRoles.size > 0 && roles.some((role) => exemptRoles.has(role)),
      onError: (error) =>
        this.#log.error({ err: error }, 'the rate limit store is unavailable: each process counts separately'),
    });
  }
}
