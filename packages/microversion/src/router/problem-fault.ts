import { problem, problemBody } from '../error-bodies/problem.js';
import { RequestError } from '../errors.js';
import type { Fault, OnError } from './error-boundary.js';

interface HttpError {
  readonly status: number;
  readonly message: string;
  readonly code?: unknown;
}

/** Returns whether an error is meant for the client, by the convention of `http-errors`. */
function isExposed(error: unknown): error is HttpError {
  const { status, expose } = (error ?? {}) as { readonly status?: unknown; readonly expose?: unknown };
  return typeof status === 'number' && status >= 400 && status < 500 && expose !== false;
}

const HIDDEN: HttpError = { status: 500, message: 'The request failed because of an error of the server.' };

/** Creates the default renderer of errors: problem details. Internal errors are reported and not shown. */
export function problemFault(onError: OnError = () => {}): Fault {
  const format = problem();
  return (error, req, res) => {
    const shown = isExposed(error) ? error : HIDDEN;
    if (shown === HIDDEN) onError(error, req);
    const { contentType, body } = shown instanceof RequestError ? format(shown, req) : problemBody(shown);
    res.writeHead(shown.status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) }).end(body);
  };
}
