import type { IncomingMessage } from 'node:http';
import { currentlyIssued } from './current.js';
import { issuedTo } from './issued.js';

/** Used for ids that a log reserved before any middleware named a header. */
const DEFAULT_NAME = 'X-Service-Request-ID';

/**
 * Headers for a call to another service on behalf of a request: its global id, or the local one where the caller
 * sent none, so that one id can be followed through all services. Without an argument, the current request.
 *
 * @returns a new plain object to spread into `fetch` headers; empty where there is no request
 */
export function headersFor(req?: IncomingMessage): Record<string, string> {
  const issued = req ? issuedTo(req) : currentlyIssued();
  if (!issued) return {};
  return { [issued.settings?.outgoing ?? DEFAULT_NAME]: issued.ids.global ?? issued.ids.local };
}
