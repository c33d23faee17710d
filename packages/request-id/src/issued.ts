import type { IncomingMessage } from 'node:http';
import type { Settings } from './settings.js';

/** The ids of one request. */
export interface RequestIds {
  /** The id of the request in this service, which is in the response, in logs and in `req.id`. */
  readonly local: string;
  /** The valid id that the client sent; undefined if the client sent none. */
  readonly global: string | undefined;
}

/** The ids of a request, with the settings of the middleware that assigned them. */
export interface IssuedIds {
  readonly ids: RequestIds;
  readonly settings: Settings;
  /** Whether a logger has reserved the local id and the middleware has not run yet. */
  readonly reserved: boolean;
  readonly req: IncomingMessage;
}

/** A registered symbol, so that all installed copies of this package find the ids. */
const ISSUED_IDS_KEY = Symbol.for('@apistrata/request-id');

type RequestWithIds = IncomingMessage & { [ISSUED_IDS_KEY]?: IssuedIds };

/** Returns the ids that were stored on a request. */
export function issuedIdsOf(req: IncomingMessage): IssuedIds | undefined {
  return (req as RequestWithIds)[ISSUED_IDS_KEY];
}

/** Stores ids on their request. */
export function storeIssuedIds(issued: IssuedIds): void {
  (issued.req as RequestWithIds)[ISSUED_IDS_KEY] = issued;
}

/**
 * Returns the ids of a request, or undefined if `requestId()` has not processed it. If several instances of the
 * middleware have processed it, returns the ids that the last one has assigned.
 */
export function requestIdOf(req: IncomingMessage): RequestIds | undefined {
  return issuedIdsOf(req)?.ids;
}
