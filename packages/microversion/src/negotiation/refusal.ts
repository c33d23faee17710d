import type { IncomingMessage, ServerResponse } from 'node:http';
import { computeFault } from '../error-bodies/compute-fault.js';
import type { ErrorFormat } from '../error-bodies/error-body.js';
import type { RequestError, Served } from '../errors.js';

/** What happens with errors. */
export interface RefusalOptions {
  /** `answer` sends them; `next` gives them to the next error handler, with their headers already set. Default `answer`. */
  readonly errors?: 'answer' | 'next';
  /** The body of answered errors. */
  readonly errorBody?: ErrorFormat;
}

export type Refuse = <T>(
  error: RequestError,
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => T,
) => T | undefined;

export const refusalOptionNames: readonly string[] = ['errors', 'errorBody'] satisfies (keyof RefusalOptions)[];

/** Compiles what happens with errors. */
export function refusal(options: RefusalOptions, defaultBody: ErrorFormat = computeFault): Refuse {
  const { errors = 'answer', errorBody = defaultBody } = options;
  if (errors !== 'answer' && errors !== 'next')
    throw new TypeError(`microversion: 'errors' is 'answer' or 'next', it is '${errors}'`);
  return (error, req, res, next) => {
    if (errors === 'next' || res.headersSent) return next(error);
    const { contentType, body } = errorBody(error, req);
    res.statusCode = error.status;
    res.setHeader('Content-Type', contentType);
    res.setHeader('Content-Length', Buffer.byteLength(body));
    res.end(body);
    return undefined;
  };
}

/** What handlers behind the middleware need to refuse as it does. */
export interface Negotiating {
  readonly refuse: Refuse;
  readonly served: Served;
}

const NEGOTIATING = Symbol.for('@apistrata/microversion');

type Carrier = IncomingMessage & { [NEGOTIATING]?: Negotiating };

/** What the middleware that negotiated a request noted. */
export function negotiatingOf(req: IncomingMessage): Negotiating | undefined {
  return (req as Carrier)[NEGOTIATING];
}

export function noteNegotiating(req: IncomingMessage, negotiating: Negotiating): void {
  (req as Carrier)[NEGOTIATING] = negotiating;
}
