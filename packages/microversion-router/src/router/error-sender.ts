import type { IncomingMessage } from 'node:http';
import { type ErrorBody, jsonError, problem, rejectUnknownOptions, type SentError } from '@apistrata/microversion';
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

/**
 * Creates the function that sends errors in a format. Internal errors are passed to `onError`; their details are not
 * sent.
 *
 * @throws TypeError if the format is unknown
 */
export function createErrorSender(errors: RouterErrorsOption = 'problem', onError: OnError = () => {}): Fault {
  const formats = { problem: problem(), json: jsonError };
  if (typeof errors === 'string') rejectUnknownOptions('createRouter errors', { [errors]: 1 }, Object.keys(formats));
  const format = typeof errors === 'string' ? formats[errors] : errors;
  return (error, req, res) => {
    const sentError = isExposed(error) ? error : INTERNAL_ERROR;
    if (sentError === INTERNAL_ERROR) onError(error, req);
    const { contentType, body } = format(sentError, req);
    res
      .writeHead(sentError.status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) })
      .end(body);
  };
}
