import type { ServerResponse } from 'node:http';
import type { Limit } from '../limits.js';

/** The limit of a resource kind, and how much of it remains. */
export interface RemainingQuota {
  readonly kind: string;
  readonly limit: Limit;
  readonly remaining: number;
}

/** The largest integer that structured fields (RFC 9651) can contain. */
const MAX_INTEGER = 999_999_999_999_999;

/**
 * Sets `RateLimit-Policy` (`"invoices";q=500`) and `RateLimit` (`"invoices";r=88`) as defined by the IETF draft
 * `draft-ietf-httpapi-ratelimit-headers`. Policies have no time window, because usage is never reset. Unlimited kinds
 * are omitted; elements that a rate limiter has set are preserved.
 */
export function setRateLimitHeaders(res: ServerResponse, kinds: readonly RemainingQuota[]): void {
  const limitedKinds = kinds.filter(({ limit }) => limit >= 0 && limit <= MAX_INTEGER);
  if (limitedKinds.length === 0 || res.headersSent) return;
  appendElements(
    res,
    'RateLimit-Policy',
    limitedKinds.map(({ kind, limit }) => `"${kind}";q=${limit}`),
  );
  appendElements(
    res,
    'RateLimit',
    limitedKinds.map(({ kind, remaining }) => `"${kind}";r=${Math.max(0, remaining)}`),
  );
}

/** Appends elements to a list header, which may already contain elements from a rate limiter. */
function appendElements(res: ServerResponse, name: string, elements: readonly string[]): void {
  const existingValue = res.getHeader(name);
  res.setHeader(name, [...(existingValue === undefined ? [] : [String(existingValue)]), ...elements].join(', '));
}
