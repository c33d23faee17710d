import type { IncomingMessage } from 'node:http';
import { inboundIdOf } from './inbound-id.js';
import { issuedIdsOf, storeIssuedIds } from './issued.js';
import { type Settings, settingsFrom } from './settings.js';

/**
 * Creates a function that reserves the local id of a request before the middleware runs. Middleware with the same
 * settings uses that id.
 */
export function createGenReqId(settings: Settings): (req: IncomingMessage) => string {
  return (req) => {
    const issuedIds = issuedIdsOf(req);
    if (issuedIds) return issuedIds.ids.local;
    const global = inboundIdOf(req, settings);
    const local = (settings.adopts ? global : undefined) ?? settings.generate(req);
    storeIssuedIds({ ids: { local, global }, settings, reserved: true, req });
    return local;
  };
}

/**
 * Returns the local id of a request, for `pinoHttp({ genReqId })`. Log lines and response headers then contain the same
 * id, even if the logger runs first. If you set options of `requestId()`, use the middleware's `genReqId` instead.
 */
export const genReqId = createGenReqId(settingsFrom({}));
