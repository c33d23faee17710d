import type { IncomingMessage } from 'node:http';
import type { RequestError } from '../errors.js';

/** What is sent for an error. */
export interface ErrorBody {
  /** The whole Content-Type header. */
  readonly contentType: string;
  readonly body: string;
}

/** Turns an error into the body its client expects. */
export type ErrorFormat = (error: RequestError, req: IncomingMessage) => ErrorBody;
