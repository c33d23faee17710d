import type { IncomingMessage } from 'node:http';
import { issue, issuedTo } from './issued.js';
import { newLocalId } from './settings.js';

/**
 * For `pinoHttp({ genReqId })`: the local id of the request, so that log lines and answer headers show the same one.
 * Where the logger runs first, an id is reserved that `requestId()` takes over.
 */
export function genReqId(req: IncomingMessage): string {
  const issued = issuedTo(req);
  if (issued) return issued.ids.local;
  const local = newLocalId();
  issue(req, { ids: { local, global: undefined }, settings: undefined });
  return local;
}
