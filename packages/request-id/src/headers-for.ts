import type { IncomingMessage } from 'node:http';
import { currentlyIssued } from './current.js';
import { issuedTo } from './issued.js';

/**
 * Returns the headers for a call to another service on behalf of a request: its global id, or the local one if the caller
 * sent none, so that one id can be followed through all services. Without an argument, the current request.
 *
 * @returns a new plain object to spread into `fetch` headers; empty outside of any request
 */
export function headersFor(req?: IncomingMessage): Record<string, string> {
  const issued = req ? issuedTo(req) : currentlyIssued();
  return issued ? issued.settings.carry(issued.ids.global ?? issued.ids.local, issued.req) : {};
}
