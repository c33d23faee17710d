import type { ErrorBody } from './error-body.js';

const FAULT_KEYS: Readonly<Record<number, string>> = {
  400: 'badRequest',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'itemNotFound',
  405: 'badMethod',
  409: 'conflictingRequest',
  413: 'overLimit',
  415: 'badMediaType',
  429: 'overLimit',
  501: 'notImplemented',
  503: 'serviceUnavailable',
};

/** The values that an error body of the compute API contains. */
export interface ComputeFault {
  readonly status: number;
  /** The message for the user. */
  readonly message: string;
  /** The number of seconds until the client may retry, included in the body of an `overLimit` fault. */
  readonly retryAfterSeconds?: number;
}

/**
 * Formats an error as the compute API does: `{"badRequest": {"code": 400, "message": "..."}}`. The key depends on the
 * status; statuses without a specific key use `computeFault`. The body is JSON, regardless of `Accept`.
 */
export function computeFault({ status, message, retryAfterSeconds }: ComputeFault): ErrorBody {
  const faultKey = FAULT_KEYS[status] ?? 'computeFault';
  const retryAfterField = faultKey === 'overLimit' &&
    retryAfterSeconds !== undefined && { retryAfter: String(retryAfterSeconds) };
  const faultBody = { [faultKey]: { code: status, message, ...retryAfterField } };
  return { contentType: 'application/json; charset=UTF-8', body: JSON.stringify(faultBody) };
}
