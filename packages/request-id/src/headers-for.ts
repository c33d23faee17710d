import type { IncomingMessage } from 'node:http';
import { currentIssuedIds } from './current.js';
import { issuedIdsOf } from './issued.js';

/**
 * Returns the headers for a call to another service on behalf of a request. They contain the request's global id, or
 * its local id if the client sent no id, so that one id can be followed through all services.
 *
 * @param req default: the request for which the calling code runs
 * @returns a new plain object to spread into `fetch` headers; empty outside of any request
 */
export function headersFor(req?: IncomingMessage): Record<string, string> {
  const issuedIds = req ? issuedIdsOf(req) : currentIssuedIds();
  return issuedIds
    ? issuedIds.settings.outgoingHeaders(issuedIds.ids.global ?? issuedIds.ids.local, issuedIds.req)
    : {};
}
