import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorBody, ErrorFormat } from '../error-bodies/error-body.js';
import { jsonError, problem } from '../error-bodies/problem.js';
import type { RequestError, SupportedVersions } from '../errors.js';
import type { WriteEndHeaders } from '../versioning/lifecycle.js';

/**
 * How errors are sent: `documented` sends the format that the API reference of the service defines, `problem` sends
 * `application/problem+json` (RFC 9457), `json` sends `{"error": {...}}`, a function returns the body and its content type, and
 * `next` passes the error to the next error handler after the version headers have been set.
 */
export type ErrorsOption = 'documented' | 'problem' | 'json' | 'next' | ErrorFormat;

/** Returns the response body of an error; undefined if the error is passed to the error handlers of the application. */
export type RenderError = (error: RequestError, req: IncomingMessage) => ErrorBody | undefined;

/**
 * Returns the function that renders errors.
 *
 * @param documented the format for `documented`
 * @throws TypeError if the value of the option is unknown
 */
export function errorRenderer(errors: ErrorsOption, documented: ErrorFormat): RenderError {
  if (typeof errors === 'function') return errors;
  const renderers = new Map<ErrorsOption, RenderError>([
    ['documented', documented],
    ['problem', problem()],
    ['json', jsonError],
    ['next', () => undefined],
  ]);
  const render = renderers.get(errors);
  if (render) return render;
  const names = [...renderers.keys()].map((name) => `'${name}'`).join(', ');
  throw new TypeError(`microversion: 'errors' must be ${names} or a function, not '${errors}'`);
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

/** An error, and the function that renders it. */
export interface ErrorToSend {
  readonly error: RequestError;
  readonly render: RenderError;
}

/** The data of the middleware with which later handlers reject requests in the same format. */
export interface NegotiationContext {
  readonly render: RenderError;
  readonly served: SupportedVersions;
  /** Writes the headers that announce the end of elements. Undefined if the versions have no life cycle. */
  readonly writeEndHeaders?: WriteEndHeaders;
}

const CONTEXT = Symbol.for('@apistrata/microversion');

type Carrier = IncomingMessage & { [CONTEXT]?: NegotiationContext };

/** Returns the data that the middleware has stored for a negotiated request. */
export function negotiationContextOf(req: IncomingMessage): NegotiationContext | undefined {
  return (req as Carrier)[CONTEXT];
}

/** Stores the middleware's data on the request, for its handlers. */
export function storeNegotiationContext(req: IncomingMessage, context: NegotiationContext): void {
  (req as Carrier)[CONTEXT] = context;
}
