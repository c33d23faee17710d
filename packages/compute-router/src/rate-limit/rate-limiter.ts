import { createHash } from 'node:crypto';
import type { Caller } from '@apistrata/compute-engine';
import { checkOptions } from '@apistrata/compute-engine/api';
import type { RateLimiterRes } from 'rate-limiter-flexible';
import { RateLimitExceeded, type RateLimiter, type RateLimitVerdict } from '../http/rate-limited.js';
import { type NamedLimit, orderedLimits, type RateLimit } from './limits.js';
import { ownCounter, type RateLimitStore, SharedCounters } from './store.js';

/** The limits of callers, and where requests are counted. */
/** What is limited, and where it is counted. */
export interface RateLimiterOptions {
  readonly limits: readonly RateLimit[];
  /** Default `memory`: each process counts for itself. */
  readonly store?: RateLimitStore;
  /** How long a request waits for the store at the most; then that is away. Default 500. */
  readonly storeTimeoutMs?: number;
  /** Callers that nobody counts, such as other services. Default: none. */
  readonly exempt?: (caller: Caller) => boolean;
  /** Told once when the store is away, until it was there again. Default: nobody. */
  readonly onError?: (error: Error) => void;
}

const OPTIONS: Readonly<Record<keyof RateLimiterOptions, true>> = {
  limits: true,
  store: true,
  storeTimeoutMs: true,
  exempt: true,
  onError: true,
};

/** A limiter whose limits may be replaced while it counts. */
export interface CallerRateLimiter extends RateLimiter {
  /** Takes other limits. Throws RangeError, and changes nothing, for what cannot be one. */
  reload(limits: readonly RateLimit[]): void;
}

/** For so long a store that was away is not asked: nobody waits for it then. */
const PAUSE_MS = 1_000;

/** Ids that are long, or could be taken for what stands for those, are counted under their hash. */
const PLAIN = /^[^#].{0,63}$/s;

function keyOf(id: string): string {
  return PLAIN.test(id) ? id : `#${createHash('sha256').update(id).digest('base64url')}`;
}

interface Counted {
  readonly refused: boolean;
  readonly left: number;
  readonly seconds: number;
}

/** Counts with a store where that is there, and alone where it is not. */
class Counting {
  readonly #store: SharedCounters | undefined;
  readonly #onError: (error: Error) => void;
  #away = false;
  #awayUntil = 0;

  constructor({ store = 'memory', storeTimeoutMs = 500, onError = () => {} }: RateLimiterOptions) {
    this.#store = store === 'memory' ? undefined : new SharedCounters(store, storeTimeoutMs);
    this.#onError = onError;
  }

  counter(limit: NamedLimit): (key: string) => Promise<Counted> {
    const own = ownCounter(limit);
    const alone = (key: string) => counted(own.consume(key));
    const together = this.#store?.counting(limit);
    if (!together) return alone;
    return async (key) => {
      if (performance.now() < this.#awayUntil) return alone(key);
      try {
        const result = await counted(together(key));
        this.#away = false;
        return result;
      } catch (error) {
        this.#missed(error as Error);
        return alone(key);
      }
    };
  }

  #missed(error: Error): void {
    this.#awayUntil = performance.now() + PAUSE_MS;
    if (this.#away) return;
    this.#away = true;
    this.#onError(error);
  }
}

/** The library rejects with a result for what is refused, and with an Error for what failed. */
async function counted(consuming: Promise<RateLimiterRes>): Promise<Counted> {
  const told = (refused: boolean, { remainingPoints, msBeforeNext }: RateLimiterRes): Counted => ({
    refused,
    left: refused ? 0 : remainingPoints,
    seconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
  });
  try {
    return told(false, await consuming);
  } catch (thrown) {
    if (thrown instanceof Error) throw thrown;
    return told(true, thrown as RateLimiterRes);
  }
}

/** Limits in force, with their counters. */
interface Rules {
  readonly policy: string;
  readonly limits: readonly (NamedLimit & { readonly take: (key: string) => Promise<Counted> })[];
}

function rulesOf(given: readonly RateLimit[], counting: Counting): Rules {
  const limits = orderedLimits(given);
  return {
    policy: limits.map(({ name, requests, windowSeconds }) => `"${name}";q=${requests};w=${windowSeconds}`).join(', '),
    limits: limits.map((limit) => ({ ...limit, take: counting.counter(limit) })),
  };
}

/**
 * Limits how many requests users and projects make, counted in fixed windows: in memory, or in a Redis or PostgreSQL that
 * several processes share. While such a store is away, each process counts for itself: nobody is locked out, and a flood
 * is still bounded. Callers read of it in `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10).
 *
 * @throws TypeError for unknown options, RangeError for limits that cannot be
 *
 * @example
 * ```ts
 * import { rateLimiter } from '@apistrata/compute-router/rate-limit';
 *
 * const rateLimit = rateLimiter({ limits: [{ per: 'user', requests: 600, windowSeconds: 60 }] });
 * ```
 */
export function rateLimiter(options: RateLimiterOptions): CallerRateLimiter {
  checkOptions('rateLimiter()', options, OPTIONS);
  const { exempt } = options;
  const counting = new Counting(options);
  let rules = rulesOf(options.limits, counting);

  async function countBy({ policy, limits }: Rules, caller: Caller): Promise<RateLimitVerdict> {
    const remaining: string[] = [];
    for (const { name, per, requests, windowSeconds, take } of limits) {
      const { refused, left, seconds } = await take(keyOf(per === 'user' ? caller.userId : caller.projectId));
      const item = `"${name}";r=${left};t=${seconds}`;
      if (refused) {
        const exceeded = new RateLimitExceeded(`a ${per} has ${requests} in ${windowSeconds} s`, seconds);
        return { policy, remaining: item, exceeded };
      }
      remaining.push(item);
    }
    return { policy, remaining: remaining.join(', ') };
  }

  return {
    count: (caller) => (rules.limits.length === 0 || exempt?.(caller) ? undefined : countBy(rules, caller)),
    reload(limits) {
      rules = rulesOf(limits, counting);
    },
  };
}
