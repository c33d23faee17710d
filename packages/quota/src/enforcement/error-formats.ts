import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { QuotaExceeded, type QuotaStoreError } from '../errors.js';

/** The body of an error response. */
export interface QuotaErrorBody {
  /** The complete value of the Content-Type header. */
  readonly contentType: string;
  readonly body: string;
}

/** An error with which `enforceQuota()` rejects a request. */
export type EnforcementError = QuotaExceeded | QuotaStoreError;

/** Renders an error with which `enforceQuota()` rejects a request. */
export type QuotaErrorFormat = (error: EnforcementError, req: IncomingMessage) => QuotaErrorBody;

/**
 * How errors are sent: `documented` sends the format of the key management API, `problem` sends
 * `application/problem+json` (RFC 9457), `json` sends `{"error": {...}}`, a function returns the body and its content
 * type, and `next` passes the error to the next error handler after the response headers have been set.
 */
export type QuotaErrorsOption = 'documented' | 'problem' | 'json' | 'next' | QuotaErrorFormat;

/** Returns the response body for an error, or undefined to pass the error to the application's error handlers. */
export type RenderError = (error: EnforcementError, req: IncomingMessage) => QuotaErrorBody | undefined;

const UNAVAILABLE_MESSAGE = 'Quotas cannot be checked now.';

/** Returns the error message for the client, which never contains messages from the store. */
function detailOf(error: EnforcementError): string {
  return error instanceof QuotaExceeded ? error.message : UNAVAILABLE_MESSAGE;
}

function problemBody(error: EnforcementError): QuotaErrorBody {
  const { status, code } = error;
  const exceededMember = error instanceof QuotaExceeded && { exceeded: error.details };
  const body = { title: STATUS_CODES[status] ?? 'Error', status, detail: detailOf(error), code, ...exceededMember };
  return { contentType: 'application/problem+json', body: JSON.stringify(body) };
}

function jsonErrorBody(error: EnforcementError): QuotaErrorBody {
  const { status, code } = error;
  const body = JSON.stringify({ error: { code, status, message: detailOf(error) } });
  return { contentType: 'application/json; charset=UTF-8', body };
}

/** Creates the error renderer for the format of the key management API. */
function createKeyManagerFormat(operation: string): QuotaErrorFormat {
  return (error) => {
    const { status } = error;
    const reason =
      error instanceof QuotaExceeded ? 'Creation not allowed because a quota has been reached.' : UNAVAILABLE_MESSAGE;
    const description = `${operation} issue seen - ${reason}`;
    const body = JSON.stringify({ code: status, title: STATUS_CODES[status], description });
    return { contentType: 'application/json', body };
  };
}

/**
 * Returns the error renderer that the option `errors` selects.
 *
 * @param operation the operation name in error bodies of the key management API
 * @throws TypeError if the value of the option is unknown
 */
export function errorRenderer(errors: QuotaErrorsOption, operation: string): RenderError {
  if (typeof errors === 'function') return errors;
  const renderers = new Map<QuotaErrorsOption, RenderError>([
    ['documented', createKeyManagerFormat(operation)],
    ['problem', problemBody],
    ['json', jsonErrorBody],
    ['next', () => undefined],
  ]);
  const render = renderers.get(errors);
  if (render) return render;
  const names = [...renderers.keys()].map((name) => `"${name}"`).join(', ');
  throw new TypeError(`enforceQuota: errors must be ${names} or a function, not ${JSON.stringify(errors)}`);
}
