import { problem, problemBody, RequestError } from '@apistrata/microversion';
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

const INTERNAL_ERROR: HttpError = { status: 500, message: 'The request failed because of an internal server error.' };

/**
 * Creates the default error renderer, which sends problem details. Internal errors are passed to `onError`; their
 * details are not sent.
 */
export function createProblemFault(onError: OnError = () => {}): Fault {
  const formatProblem = problem();
  return (error, req, res) => {
    const sentError = isExposed(error) ? error : INTERNAL_ERROR;
    if (sentError === INTERNAL_ERROR) onError(error, req);
    const { contentType, body } =
      sentError instanceof RequestError ? formatProblem(sentError, req) : problemBody(sentError);
    res
      .writeHead(sentError.status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) })
      .end(body);
  };
}
