import type { ServerResponse } from 'node:http';
import type { Limit } from '../limits.js';

/** The limit and the remaining amount of one kind. */
export interface Remaining {
  readonly kind: string;
  readonly limit: Limit;
  readonly remaining: number;
}

/** The largest integer in structured fields (RFC 9651). */
const MAX_INTEGER = 999_999_999_999_999;

/**
 * Sets `RateLimit-Policy` (`"invoices";q=500`) and `RateLimit` (`"invoices";r=88`) of the IETF draft
 * `draft-ietf-httpapi-ratelimit-headers`. Policies have no window, because usage is not reset. Unlimited kinds are omitted;
 * elements that a rate limiter has set are preserved.
 */
export function setRateLimitHeaders(res: ServerResponse, kinds: readonly Remaining[]): void {
  const limited = kinds.filter(({ limit }) => limit >= 0 && limit <= MAX_INTEGER);
  if (limited.length === 0 || res.headersSent) return;
  appendElements(
    res,
    'RateLimit-Policy',
    limited.map(({ kind, limit }) => `"${kind}";q=${limit}`),
  );
  appendElements(
    res,
    'RateLimit',
    limited.map(({ kind, remaining }) => `"${kind}";r=${Math.max(0, remaining)}`),
  );
}

/** Appends elements to a list header, which may already have elements of a rate limiter. */
function appendElements(res: ServerResponse, name: string, elements: readonly string[]): void {
  const existing = res.getHeader(name);
  res.setHeader(name, [...(existing === undefined ? [] : [String(existing)]), ...elements].join(', '));
}
