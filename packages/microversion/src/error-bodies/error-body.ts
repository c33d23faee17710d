import type { IncomingMessage } from 'node:http';
import type { RequestError } from '../errors.js';

/** The response body for an error. */
export interface ErrorBody {
  /** The complete value of the Content-Type header. */
  readonly contentType: string;
  readonly body: string;
}

/** Formats an error as a response body. */
export type ErrorFormat = (error: RequestError, req: IncomingMessage) => ErrorBody;
