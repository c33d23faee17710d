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

/**
 * The error form of the compute API, `{"badRequest": {"code": 400, "message": "..."}}`: the key follows from the
 * status, `computeFault` for every status without a name of its own. Always JSON, whatever `Accept` says.
 */
export function computeFault(error: { readonly status: number; readonly message: string }): ErrorBody {
  const fault = { [NAMES[error.status] ?? 'computeFault']: { code: error.status, message: error.message } };
  return { contentType: 'application/json; charset=UTF-8', body: JSON.stringify(fault) };
}
