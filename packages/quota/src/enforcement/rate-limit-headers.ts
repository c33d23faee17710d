import type { ServerResponse } from 'node:http';
import type { Limit } from '../limits.js';

/** The limit and the remaining amount of one kind. */
export interface Remaining {
  readonly kind: string;
  readonly limit: Limit;
  readonly remaining: number;
}

/** The largest integer of structured fields (RFC 9651). */
const MAX_INTEGER = 999_999_999_999_999;

/**
 * Sets `RateLimit-Policy` (`"invoices";q=500`) and `RateLimit` (`"invoices";r=88`) of the IETF draft
 * `draft-ietf-httpapi-ratelimit-headers`. Policies have no window, because usage does not reset. Unlimited kinds are
 * omitted; elements of rate limiters are kept.
 */
export function setRateLimitHeaders(res: ServerResponse, kinds: readonly Remaining[]): void {
  const limited = kinds.filter(({ limit }) => limit >= 0 && limit <= MAX_INTEGER);
  if (limited.length === 0 || res.headersSent) return;
  add(
    res,
    'RateLimit-Policy',
    limited.map(({ kind, limit }) => `"${kind}";q=${limit}`),
  );
  add(
    res,
    'RateLimit',
    limited.map(({ kind, remaining }) => `"${kind}";r=${Math.max(0, remaining)}`),
  );
}

/** Appends to the list, which may already have elements of a rate limiter. */
function add(res: ServerResponse, name: string, elements: readonly string[]): void {
  const given = res.getHeader(name);
  res.setHeader(name, [...(given === undefined ? [] : [String(given)]), ...elements].join(', '));
}
