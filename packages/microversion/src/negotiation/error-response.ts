import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorBody, ErrorFormat } from '../error-bodies/error-body.js';
import { jsonError, problem } from '../error-bodies/problem.js';
import type { RequestError, SupportedVersions } from '../errors.js';
import type { Version } from '../version.js';
import type { WriteEndHeaders } from '../versioning/lifecycle.js';
import type { Window } from '../windowed.js';

/**
 * How errors are sent: `documented` sends the format that the service's API reference defines, `problem` sends
 * `application/problem+json` (RFC 9457), `json` sends `{"error": {...}}`, a function returns the body and its content type, and
 * `next` passes the error to the next error handler after the version headers have been set.
 */
export type ErrorsOption = 'documented' | 'problem' | 'json' | 'next' | ErrorFormat;

/** Returns the response body for an error, or undefined to pass the error to the application's error handlers. */
export type RenderError = (error: RequestError, req: IncomingMessage) => ErrorBody | undefined;

/**
 * Returns the error renderer that the option `errors` selects.
 *
 * @param documented the renderer for `documented`
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
  const errorBody = res.headersSent ? undefined : render(error, req);
  if (!errorBody) return next(error);
  const { contentType, body } = errorBody;
  res.statusCode = error.status;
  res.setHeader('Content-Type', contentType);
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.end(body);
  return undefined;
}

/** An error to send, and the function that renders its response body. */
export interface ErrorToSend {
  readonly error: RequestError;
  readonly render: RenderError;
}

/** Data that the middleware stores for later handlers, so that they reject requests in the same error format. */
export interface NegotiationContext {
  readonly render: RenderError;
  readonly served: SupportedVersions;
  /** Writes the headers that announce the end of an operation. Undefined if the versions do not have a life cycle. */
  readonly writeEndHeaders?: WriteEndHeaders;
}

const CONTEXT_KEY = Symbol.for('@apistrata/microversion');

type RequestWithContext = IncomingMessage & { [CONTEXT_KEY]?: NegotiationContext };

/** Returns the negotiation data that the middleware has stored on a request. */
export function negotiationContextOf(req: IncomingMessage): NegotiationContext | undefined {
  return (req as RequestWithContext)[CONTEXT_KEY];
}

/** Stores negotiation data on a request, for its handlers. */
export function storeNegotiationContext(req: IncomingMessage, context: NegotiationContext): void {
  (req as RequestWithContext)[CONTEXT_KEY] = context;
}

/**
 * Writes the headers `Deprecation`, `Sunset` and `Link` if an operation, or another element with windows, does not exist at the
 * newest version. Has no effect unless a preceding `versioning()` has negotiated the version. Pass the same array of
 * windows for each request, because the headers are cached by array.
 */
export function announceEnd(
  req: IncomingMessage,
  res: ServerResponse,
  windows: readonly Window<unknown>[],
  version: Version,
): void {
  negotiationContextOf(req)?.writeEndHeaders?.(res, windows, version);
}
