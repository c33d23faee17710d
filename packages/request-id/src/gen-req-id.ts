import type { IncomingMessage } from 'node:http';
import { inboundIdOf } from './inbound-id.js';
import { issue, issuedTo } from './issued.js';
import { type Settings, settingsFrom } from './settings.js';

/** Returns a generator that reserves the id which the middleware of these settings takes over. */
export function reservesFor(settings: Settings): (req: IncomingMessage) => string {
  return (req) => {
    const issued = issuedTo(req);
    if (issued) return issued.ids.local;
    const global = inboundIdOf(req, settings);
    const local = (settings.adopts ? global : undefined) ?? settings.generate(req);
    issue({ ids: { local, global }, settings, reserved: true, req });
    return local;
  };
}

/**
 * Returns the local id of the request, for `pinoHttp({ genReqId })`. Log lines and response headers then show the same id, even if
 * the logger runs first. With options other than the defaults, use `genReqId` of the middleware.
 */
export const genReqId = reservesFor(settingsFrom({}));
