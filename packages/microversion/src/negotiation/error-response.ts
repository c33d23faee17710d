import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorBody, ErrorFormat } from '../error-bodies/error-body.js';
import { jsonError, problem } from '../error-bodies/problem.js';
import type { RequestError, SupportedVersions } from '../errors.js';
import type { WriteEndHeaders } from '../versioning/lifecycle.js';

/**
 * How errors are sent: `documented` sends the form that the documents of the service define, `problem` sends
 * `application/problem+json` (RFC 9457), `json` sends `{"error": {...}}`, a function returns the body and its type, and `next`
 * passes the error to the next error handler, with its headers already set.
 */
export type ErrorsOption = 'documented' | 'problem' | 'json' | 'next' | ErrorFormat;

/** Returns the response body of an error; undefined if the error is passed to the error handlers of the application. */
export type RenderError = (error: RequestError, req: IncomingMessage) => ErrorBody | undefined;

/**
 * Returns the function that renders errors.
 *
 * @param documented the form of `documented`
 * @throws TypeError that lists the values of the option
 */
export function errorRenderer(errors: ErrorsOption, documented: ErrorFormat): RenderError {
  if (typeof errors === 'function') return errors;
  const cache = new Map<ErrorsOption, RenderError>([
    ['documented', documented],
    ['problem', problem()],
    ['json', jsonError],
    ['next', () => undefined],
  ]);
  const render = cache.get(errors);
  if (render) return render;
  const names = [...cache.keys()].map((name) => `'${name}'`).join(', ');
  throw new TypeError(`microversion: 'errors' is ${names} or a function, it is '${errors}'`);
}

/** Sends an error, or passes it to `next`. */
export function sendError<T>(
  { error, render }: ErrorToSend,
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => T,
): T | undefined {
  const rendered = res.headersSent ? undefined : render(error, req);
  if (!rendered) return next(error);
  const { contentType, body } = rendered;
  res.statusCode = error.status;
  res.setHeader('Content-Type', contentType);
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.end(body);
  return undefined;
}

/** An error, and how it is sent. */
export interface ErrorToSend {
  readonly error: RequestError;
  readonly render: RenderError;
}

/** The functions with which handlers after the middleware reject requests in the same way. */
export interface Negotiating {
  readonly render: RenderError;
  readonly served: SupportedVersions;
  /** Announces the end of elements that later versions do not have, if versions have a life cycle. */
  readonly writeEnd?: WriteEndHeaders;
}

const NEGOTIATING = Symbol.for('@apistrata/microversion');

type Carrier = IncomingMessage & { [NEGOTIATING]?: Negotiating };

/** Returns the data that the middleware has stored for a negotiated request. */
export function negotiatingOf(req: IncomingMessage): Negotiating | undefined {
  return (req as Carrier)[NEGOTIATING];
}

export function noteNegotiating(req: IncomingMessage, negotiating: Negotiating): void {
  (req as Carrier)[NEGOTIATING] = negotiating;
}
