import { createHash } from 'node:crypto';
import type { Caller } from '@apistrata/compute-engine';
import { checkOptions } from '@apistrata/compute-engine/api';
import type { RateLimiterRes } from 'rate-limiter-flexible';
import { RateLimitExceeded, type RateLimiter, type RateLimitVerdict } from '../http/rate-limited.js';
import { type NamedLimit, orderedLimits, type RateLimit } from './limits.js';
import { memoryCounter, type RateLimitStore, SharedCounters } from './store.js';

/** Options for `rateLimiter()`. */
export interface RateLimiterOptions {
  readonly limits: readonly RateLimit[];
  /** Where requests are counted. Default: `memory`; each process then counts separately. */
  readonly store?: RateLimitStore;
  /** Timeout for store operations, in milliseconds. A slower store counts as unavailable. Default: 500. */
  readonly storeTimeoutMs?: number;
  /** Returns true for callers that are not limited, such as other services. Default: all callers are limited. */
  readonly exempt?: (caller: Caller) => boolean;
  /** Called once per outage, when the store becomes unavailable. Default: none. */
  readonly onError?: (error: Error) => void;
}

const KNOWN_OPTIONS: Readonly<Record<keyof RateLimiterOptions, true>> = {
  limits: true,
  store: true,
  storeTimeoutMs: true,
  exempt: true,
  onError: true,
};

/** A rate limiter whose limits can be replaced at run time. */
export interface CallerRateLimiter extends RateLimiter {
  /**
   * Replaces all limits.
   *
   * @throws RangeError if a limit is invalid; the old limits then stay in force
   */
  reload(limits: readonly RateLimit[]): void;
}

/** How long requests bypass the store after a failure, so that they do not wait for its timeout. */
const STORE_PAUSE_MS = 1_000;

/** Matches ids that can be store keys. All other ids, which are long or look like a hash, are hashed. */
const PLAIN_KEY = /^[^#].{0,63}$/s;

function keyOf(id: string): string {
  return PLAIN_KEY.test(id) ? id : `#${createHash('sha256').update(id).digest('base64url')}`;
}

interface CountResult {
  readonly rejected: boolean;
  readonly left: number;
  readonly seconds: number;
}

/** Creates counters that use the store while it is available, and memory otherwise. */
class LimitCounters {
  readonly #store: SharedCounters | undefined;
  readonly #onError: (error: Error) => void;
  #isUnavailable = false;
  #unavailableUntil = 0;

  constructor({ store = 'memory', storeTimeoutMs = 500, onError = () => {} }: RateLimiterOptions) {
    this.#store = store === 'memory' ? undefined : new SharedCounters(store, storeTimeoutMs);
    this.#onError = onError;
  }

  counterFor(limit: NamedLimit): (key: string) => Promise<CountResult> {
    const localCounter = memoryCounter(limit);
    const countInMemory = (key: string) => toCountResult(localCounter.consume(key));
    const countInStore = this.#store?.counterFor(limit);
    if (!countInStore) return countInMemory;
    return async (key) => {
      if (performance.now() < this.#unavailableUntil) return countInMemory(key);
      try {
        const result = await toCountResult(countInStore(key));
        this.#isUnavailable = false;
        return result;
      } catch (error) {
        this.#markUnavailable(error as Error);
        return countInMemory(key);
      }
    };
  }

  #markUnavailable(error: Error): void {
    this.#unavailableUntil = performance.now() + STORE_PAUSE_MS;
    if (this.#isUnavailable) return;
    this.#isUnavailable = true;
    this.#onError(error);
  }
}

/**
 * Converts the result of `rate-limiter-flexible`, which rejects with a result if the limit is exceeded, and with an
 * `Error` if the store fails.
 */
async function toCountResult(pendingResult: Promise<RateLimiterRes>): Promise<CountResult> {
  const resultFor = (rejected: boolean, { remainingPoints, msBeforeNext }: RateLimiterRes): CountResult => ({
    rejected,
    left: rejected ? 0 : remainingPoints,
    seconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
  });
  try {
    return resultFor(false, await pendingResult);
  } catch (thrown) {
    if (thrown instanceof Error) throw thrown;
    return resultFor(true, thrown as RateLimiterRes);
  }
}

/** The limits in force, with their counters. */
interface ActiveLimits {
  readonly policy: string;
  readonly limits: readonly (NamedLimit & { readonly count: (key: string) => Promise<CountResult> })[];
}

function activeLimitsOf(requestedLimits: readonly RateLimit[], counters: LimitCounters): ActiveLimits {
  const limits = orderedLimits(requestedLimits);
  return {
    policy: limits.map(({ name, requests, windowSeconds }) => `"${name}";q=${requests};w=${windowSeconds}`).join(', '),
    limits: limits.map((limit) => ({ ...limit, count: counters.counterFor(limit) })),
  };
}

/**
 * Creates a rate limiter that counts the requests of each user and project in fixed time windows, either in memory or
 * in a Redis or PostgreSQL database that several processes share. While such a database is unavailable, each process
 * counts separately, so that callers are not locked out and floods are still limited. Responses contain the headers
 * `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10).
 *
 * @throws TypeError if an option is unknown
 * @throws RangeError if a limit is invalid
 *
 * @example
 * ```ts
 * import { rateLimiter } from '@apistrata/compute-router/rate-limit';
 *
 * const rateLimit = rateLimiter({ limits: [{ per: 'user', requests: 600, windowSeconds: 60 }] });
 * ```
 */
export function rateLimiter(options: RateLimiterOptions): CallerRateLimiter {
  checkOptions('rateLimiter()', options, KNOWN_OPTIONS);
  const { exempt } = options;
  const counters = new LimitCounters(options);
  let activeLimits = activeLimitsOf(options.limits, counters);

  async function countRequest({ policy, limits }: ActiveLimits, caller: Caller): Promise<RateLimitVerdict> {
    const remaining: string[] = [];
    for (const { name, per, requests, windowSeconds, count } of limits) {
      const { rejected, left, seconds } = await count(keyOf(per === 'user' ? caller.userId : caller.projectId));
      const item = `"${name}";r=${left};t=${seconds}`;
      if (rejected) {
        const exceeded = new RateLimitExceeded(`a ${per} may send ${requests} in ${windowSeconds} s`, seconds);
        return { policy, remaining: item, exceeded };
      }
      remaining.push(item);
    }
    return { policy, remaining: remaining.join(', ') };
  }

  return {
    count: (caller) =>
      activeLimits.limits.length === 0 || exempt?.(caller) ? undefined : countRequest(activeLimits, caller),
    reload(limits) {
      activeLimits = activeLimitsOf(limits, counters);
    },
  };
}
