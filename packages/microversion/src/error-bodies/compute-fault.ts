import type { ErrorBody } from './error-body.js';

const NAMES: Readonly<Record<number, string>> = {
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

export interface ComputeFault {
  readonly status: number;
  /** The message for the user. */
  readonly message: string;
  /** Seconds until a retry, included in the body of an `overLimit` fault. */
  readonly retryAfterSeconds?: number;
}

/**
 * The error form of the compute API, `{"badRequest": {"code": 400, "message": "..."}}`: the key follows from the
 * status, `computeFault` for every status without its own name. Always JSON, regardless of `Accept`.
 */
export function computeFault({ status, message, retryAfterSeconds }: ComputeFault): ErrorBody {
  const kind = NAMES[status] ?? 'computeFault';
  const retry = kind === 'overLimit' && retryAfterSeconds !== undefined && { retryAfter: String(retryAfterSeconds) };
  const fault = { [kind]: { code: status, message, ...retry } };
  return { contentType: 'application/json; charset=UTF-8', body: JSON.stringify(fault) };
}
