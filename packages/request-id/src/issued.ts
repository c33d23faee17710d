import type { IncomingMessage } from 'node:http';
import type { Settings } from './settings.js';

/** The ids of one request. */
export interface RequestIds {
  /** The id of this request in this service: in its responses, its logs and `req.id`. */
  readonly local: string;
  /** The valid id that the caller sent; undefined if there was none. */
  readonly global: string | undefined;
}

/** Ids together with the middleware that issued them. */
export interface Issued {
  readonly ids: RequestIds;
  readonly settings: Settings;
  /** True: a logger has reserved the local id, and the middleware has not run yet. */
  readonly reserved: boolean;
  readonly req: IncomingMessage;
}

/** A registered symbol, so that two installed copies of this package see each other's ids. */
const ISSUED = Symbol.for('@apistrata/request-id');

type Carrier = IncomingMessage & { [ISSUED]?: Issued };

export function issuedTo(req: IncomingMessage): Issued | undefined {
  return (req as Carrier)[ISSUED];
}

export function issue(issued: Issued): void {
  (issued.req as Carrier)[ISSUED] = issued;
}

/**
 * Returns the ids of a request; undefined if `requestId()` has not processed it. With stacked middleware, these are the
 * ids of the innermost one that ran.
 */
export function requestIdOf(req: IncomingMessage): RequestIds | undefined {
  return issuedTo(req)?.ids;
}
