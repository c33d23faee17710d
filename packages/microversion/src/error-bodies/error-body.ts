import type { IncomingMessage } from 'node:http';
import type { RequestError } from '../errors.js';

/** The response body of an error. */
export interface ErrorBody {
  /** The full Content-Type header. */
  readonly contentType: string;
  readonly body: string;
}

/** Formats an error for its client. */
export type ErrorFormat = (error: RequestError, req: IncomingMessage) => ErrorBody;
