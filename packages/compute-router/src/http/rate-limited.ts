import type { ServerResponse } from 'node:http';
import type { Caller } from '@apistrata/compute-engine';
import { ComputeRouterError } from '../errors.js';

/** The result of counting a request: the header fields for the caller, and whether the request is allowed. */
export interface RateLimitVerdict {
  /** Value of `RateLimit-Policy`: the limits. */
  readonly policy: string;
  /** Value of `RateLimit`: the remaining requests. */
  readonly remaining: string;
  /** Set if the request is rejected. */
  readonly exceeded?: RateLimitExceeded;
}

/** Counts the requests of callers; created by `rateLimiter()` from `@apistrata/compute-router/rate-limit`. */
export interface RateLimiter {
  /** Counts one request. Returns undefined synchronously for exempt callers. Never rejects. */
  count(caller: Caller): Promise<RateLimitVerdict> | undefined;
}

/** A caller sent more requests than a limit allows: 429 with `Retry-After`. */
export class RateLimitExceeded extends ComputeRouterError<'RATE_LIMIT_EXCEEDED'> {
  /** Whole seconds until the next request is allowed. */
  readonly retryAfterSeconds: number;

  constructor(limit: string, retryAfterSeconds: number) {
    super('RATE_LIMIT_EXCEEDED', `Too many requests: ${limit}. Try again in ${retryAfterSeconds} s.`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Sets the response headers with the remaining requests of a caller.
 *
 * @throws {@link RateLimitExceeded} if the request is rejected
 */
export function applyRateLimit({ policy, remaining, exceeded }: RateLimitVerdict, res: ServerResponse): void {
  res.setHeader('RateLimit-Policy', policy);
  res.setHeader('RateLimit', remaining);
  if (exceeded) throw exceeded;
}
