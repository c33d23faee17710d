import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { HealthcheckConfigError, type HealthcheckUnavailable } from './errors.js';
import { didYouMean } from './known-names.js';

/** The response body of an unavailable endpoint. */
export interface HealthcheckErrorBody {
  /** The complete value of the Content-Type header. */
  readonly contentType: string;
  readonly body: string;
}

/** Renders the response body of an unavailable endpoint. */
export type HealthcheckErrorFormat = (error: HealthcheckUnavailable, req: IncomingMessage) => HealthcheckErrorBody;

/**
 * How an unavailable endpoint responds: `documented` sends the text, HTML or JSON of the documented format, `problem`
 * sends `application/problem+json` (RFC 9457), `json` sends `{"error": {...}}`, a function returns the body and its
 * content type, and `next` passes the error to the next error handler.
 */
export type HealthcheckErrorsOption = 'documented' | 'problem' | 'json' | 'next' | HealthcheckErrorFormat;

/** Returns the response body for an error, or undefined to pass the error to the application's error handlers. */
export type RenderError = (error: HealthcheckUnavailable, req: IncomingMessage) => HealthcheckErrorBody | undefined;

function problemBody({ status, code, message, reasons }: HealthcheckUnavailable): HealthcheckErrorBody {
  const body = { title: STATUS_CODES[status], status, detail: message, code, reasons };
  return { contentType: 'application/problem+json', body: JSON.stringify(body) };
}

function jsonErrorBody({ status, code, message }: HealthcheckUnavailable): HealthcheckErrorBody {
  const body = JSON.stringify({ error: { code, status, message } });
  return { contentType: 'application/json; charset=UTF-8', body };
}

const RENDERERS: ReadonlyMap<string, RenderError | undefined> = new Map<string, RenderError | undefined>([
  ['documented', undefined],
  ['problem', problemBody],
  ['json', jsonErrorBody],
  ['next', () => undefined],
]);

/**
 * Returns the error renderer that the option `errors` selects; undefined for `documented`.
 *
 * @throws HealthcheckConfigError if the value is unknown
 */
export function errorRenderer(errors: HealthcheckErrorsOption = 'documented'): RenderError | undefined {
  if (typeof errors === 'function') return errors;
  if (RENDERERS.has(errors)) return RENDERERS.get(errors);
  const fix = didYouMean(String(errors), [...RENDERERS.keys()]);
  throw new HealthcheckConfigError('errors', `unknown value ${JSON.stringify(errors)}`, fix);
}
