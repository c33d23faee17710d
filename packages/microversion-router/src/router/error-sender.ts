import type { IncomingMessage } from 'node:http';
import { type ErrorBody, jsonError, problem, type SentError } from '@apistrata/microversion';
import type { Fault, OnError } from './error-boundary.js';

/**
 * The format of errors: `problem` sends `application/problem+json` (RFC 9457), `json` sends `{"error": {...}}`, and a function
 * returns the body and its content type. It receives internal errors as a status 500 without details.
 */
export type RouterErrorsOption = 'problem' | 'json' | ((error: SentError, req: IncomingMessage) => ErrorBody);

/** Returns whether the message of an error may be sent to the client, following the convention of `http-errors`. */
function isExposed(error: unknown): error is SentError {
  const { status, expose } = (error ?? {}) as { readonly status?: unknown; readonly expose?: unknown };
  return typeof status === 'number' && status >= 400 && status < 500 && expose !== false;
}

const INTERNAL_ERROR: SentError = { status: 500, message: 'The request failed because of an internal server error.' };

function formatOf(errors: RouterErrorsOption): Exclude<RouterErrorsOption, string> {
  if (typeof errors === 'function') return errors;
  if (errors === 'problem') return problem();
  if (errors === 'json') return jsonError;
  throw new TypeError(`createRouter: 'errors' must be 'problem', 'json' or a function, not '${errors}'`);
}

/**
 * Creates the function that sends errors in a format. Internal errors are passed to `onError`; their details are not
 * sent.
 *
 * @throws TypeError if the format is unknown
 */
export function createErrorSender(errors: RouterErrorsOption = 'problem', onError: OnError = () => {}): Fault {
  const format = formatOf(errors);
  return (error, req, res) => {
    const sentError = isExposed(error) ? error : INTERNAL_ERROR;
    if (sentError === INTERNAL_ERROR) onError(error, req);
    const { contentType, body } = format(sentError, req);
    res
      .writeHead(sentError.status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) })
      .end(body);
  };
}
