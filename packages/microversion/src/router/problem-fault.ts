import { problem, problemBody } from '../error-bodies/problem.js';
import { RequestError } from '../errors.js';
import type { Fault, OnError } from './error-boundary.js';

interface HttpError {
  readonly status: number;
  readonly message: string;
  readonly code?: unknown;
}

/** Returns whether the message of an error may be sent to the client, following the convention of `http-errors`. */
function isExposed(error: unknown): error is HttpError {
  const { status, expose } = (error ?? {}) as { readonly status?: unknown; readonly expose?: unknown };
  return typeof status === 'number' && status >= 400 && status < 500 && expose !== false;
}

const INTERNAL: HttpError = { status: 500, message: 'The request failed because of an internal server error.' };

/**
 * Creates the default error renderer, which sends problem details. Internal errors are passed to `onError`; their
 * details are not sent.
 */
export function problemFault(onError: OnError = () => {}): Fault {
  const format = problem();
  return (error, req, res) => {
    const sent = isExposed(error) ? error : INTERNAL;
    if (sent === INTERNAL) onError(error, req);
    const { contentType, body } = sent instanceof RequestError ? format(sent, req) : problemBody(sent);
    res.writeHead(sent.status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) }).end(body);
  };
}
