import type { ServerResponse } from 'node:http';
import type { Caller } from '@apistrata/compute-engine';
import { ComputeRouterError } from '../errors.js';

/** The rate limiter's decision about a request, and the values of the response headers. */
export interface RateLimitVerdict {
  /** Value of the `RateLimit-Policy` header, which lists the limits. */
  readonly policy: string;
  /** Value of the `RateLimit` header, which contains the number of remaining requests. */
  readonly remaining: string;
  /** The error for a rejected request; undefined if the request is allowed. */
  readonly exceeded?: RateLimitExceeded;
}

/** Counts each caller's requests. Created by `rateLimiter()` from `@apistrata/compute-router/rate-limit`. */
export interface RateLimiter {
  /** Counts one request. Returns undefined synchronously if the caller is exempt. The promise never rejects. */
  count(caller: Caller): Promise<RateLimitVerdict> | undefined;
}

/** Thrown if a caller exceeds a rate limit; the response is a 429 with `Retry-After`. */
export class RateLimitExceeded extends ComputeRouterError<'RATE_LIMIT_EXCEEDED'> {
  /** Time until the next request is allowed, in whole seconds. */
  readonly retryAfterSeconds: number;

  constructor(limit: string, retryAfterSeconds: number) {
    super('RATE_LIMIT_EXCEEDED', `Too many requests: ${limit}. Try again in ${retryAfterSeconds} s.`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Sets the response headers that contain the limits and the number of remaining requests.
 *
 * @throws {@link RateLimitExceeded} if the request is rejected
 */
export function applyRateLimit({ policy, remaining, exceeded }: RateLimitVerdict, res: ServerResponse): void {
  res.setHeader('RateLimit-Policy', policy);
  res.setHeader('RateLimit', remaining);
  if (exceeded) throw exceeded;
}
