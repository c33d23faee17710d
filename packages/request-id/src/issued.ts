import type { IncomingMessage } from 'node:http';
import type { Settings } from './settings.js';

/** The ids of one request. */
export interface RequestIds {
  /** Made by this service for this request, never taken from the client: `req-` and a random lower-case uuid. */
  readonly local: string;
  /** What the caller sent to tie requests to several services together; undefined if it sent none that is valid. */
  readonly global: string | undefined;
}

/** Ids together with the middleware that issued them; without settings they are reserved, no middleware ran yet. */
export interface Issued {
  readonly ids: RequestIds;
  readonly settings: Settings | undefined;
}

/** A registered symbol, so that two installed copies of this package see each other's ids. */
const ISSUED = Symbol.for('@apistrata/request-id');

type Carrier = IncomingMessage & { [ISSUED]?: Issued };

export function issuedTo(req: IncomingMessage): Issued | undefined {
  return (req as Carrier)[ISSUED];
}

export function issue(req: IncomingMessage, issued: Issued): void {
  (req as Carrier)[ISSUED] = issued;
}

/**
 * The ids of a request; undefined where `requestId()` has not seen it.
 * With stacked middlewares these are the ids of the innermost one that ran.
 */
export function requestIdOf(req: IncomingMessage): RequestIds | undefined {
  return issuedTo(req)?.ids;
}
