import type { ServerResponse } from 'node:http';
import { QuotaExceeded } from '../errors.js';
import type { Amounts } from '../limits.js';
import type { EnforceSettings } from './enforce-options.js';
import type { EnforcementError } from './error-formats.js';
import type { Exchange } from './exchange.js';
import { setRateLimitHeaders } from './rate-limit-headers.js';

/** The response to a rejected request. */
export interface Rejection {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/**
 * Returns the response for a quota error, and sets the response headers. Returns undefined if `onExceeded` has sent a response.
 *
 * @throws the error itself if the application's error handlers should handle it
 */
export function rejectionOf<Req>(
  settings: EnforceSettings<Req>,
  error: EnforcementError,
  { req, raw, res }: Exchange<Req>,
): Rejection | undefined {
  const quotaError = error instanceof QuotaExceeded ? new QuotaExceeded(error.details, settings.status) : error;
  if (quotaError instanceof QuotaExceeded) settings.onExceeded(quotaError, req, res);
  if (res.headersSent) return undefined;
  setRejectionHeaders(settings, quotaError, res);
  const errorBody = settings.format(quotaError, raw);
  if (!errorBody) throw quotaError;
  return { status: quotaError.status, ...errorBody };
}

function setRejectionHeaders<Req>(
  { rateLimitHeaders, retryAfter }: EnforceSettings<Req>,
  error: EnforcementError,
  res: ServerResponse,
): void {
  const seconds = retryAfter(error);
  if (seconds !== undefined) res.setHeader('Retry-After', seconds);
  if (rateLimitHeaders === 'never' || !(error instanceof QuotaExceeded)) return;
  const kinds = error.details.map(({ kind, limit, used }) => ({ kind, limit, remaining: limit - used }));
  setRateLimitHeaders(res, kinds);
}

/**
 * Sets the rate limit headers for an accepted request. If the usage cannot be read, the headers are omitted and the
 * request is still accepted.
 */
export async function setUsageHeaders<Req>(
  { quota, onError }: EnforceSettings<Req>,
  project: string,
  amounts: Amounts,
  { req, res }: Exchange<Req>,
): Promise<void> {
  try {
    const usage = Object.entries(await quota.usage(project)).filter(([kind]) => Object.hasOwn(amounts, kind));
    const kinds = usage.map(([kind, { used, reserved, limit }]) => ({
      kind,
      limit,
      remaining: Number(limit) - used - reserved,
    }));
    setRateLimitHeaders(res, kinds);
  } catch (error) {
    onError(error, req);
  }
}
