import type { ServerResponse } from 'node:http';
import type { Caller } from '@apistrata/compute-engine';
import { ComputeRouterError } from '../errors.js';

/** What came of counting a request: the header fields that tell its caller, and whether it may go on. */
export interface RateLimitVerdict {
  /** Value of `RateLimit-Policy`: the limits there are. */
  readonly policy: string;
  /** Value of `RateLimit`: what is left of them. */
  readonly remaining: string;
  /** Given when it may not. */
  readonly exceeded?: RateLimitExceeded;
}

/** Counts the requests of callers; `rateLimiter()` of `@apistrata/compute-router/rate-limit` makes one. */
export interface RateLimiter {
  /** Counts one request; undefined, without a promise, for callers that nobody counts. Does not reject. */
  count(caller: Caller): Promise<RateLimitVerdict> | undefined;
}

/** A caller made more requests than a limit allows: 429 with `Retry-After`. */
export class RateLimitExceeded extends ComputeRouterError<'RATE_LIMIT_EXCEEDED'> {
  /** Whole seconds until there is room again. */
  readonly retryAfterSeconds: number;

  constructor(limit: string, retryAfterSeconds: number) {
    super('RATE_LIMIT_EXCEEDED', `Too many requests: ${limit}. Try again in ${retryAfterSeconds} s.`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Tells a caller in the answer's head what is left. Throws {@link RateLimitExceeded}. */
export function applyRateLimit({ policy, remaining, exceeded }: RateLimitVerdict, res: ServerResponse): void {
  res.setHeader('RateLimit-Policy', policy);
  res.setHeader('RateLimit', remaining);
  if (exceeded) throw exceeded;
}
