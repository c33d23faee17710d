import type { IncomingMessage, ServerResponse } from 'node:http';
import { runWith } from './current.js';
import { reservesFor } from './gen-req-id.js';
import { inboundIdOf } from './inbound-id.js';
import { type Issued, issue, issuedTo } from './issued.js';
import { type RequestIdOptions, type Settings, settingsFrom } from './settings.js';

/** Middleware for Express 4 and 5, and for bare `node:http` with the rest of the handler as `next`, whose result it returns. */
export interface RequestIdMiddleware {
  <T>(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => T): T;
  /** Returns the id of a request for `pinoHttp({ genReqId })` and `fastify({ genReqId })`, and reserves it if the logger runs first. */
  readonly genReqId: (req: IncomingMessage) => string;
}

/**
 * Gives every request an id: the valid one that its proxy or caller sent, or a new one. The id is in `req.id`, in the response
 * headers, and in everything that `currentRequestId()` and `headersFor()` return.
 *
 * The response headers are set before the handler runs: what the handler sets itself replaces them, header by header.
 * A header that is set already is kept, unless an outer `requestId()` wrote it: then the inner id is returned.
 *
 * @throws TypeError for an unknown option or an invalid header name, on creation
 *
 * @example
 * ```ts
 * import { requestId } from '@apistrata/request-id';
 * import express from 'express';
 *
 * const app = express();
 * app.use(requestId());
 * app.use('/compute', requestId({ preset: 'openstack' }));
 * ```
 */
export function requestId(options: RequestIdOptions = {}): RequestIdMiddleware {
  const settings = settingsFrom(options);

  function requestIdMiddleware<T>(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => T): T {
    const outer = issuedTo(req);
    const global = inboundIdOf(req, settings);
    // Ids that a logger has reserved are taken over, so that log and response show the same one.
    const local = outer?.reserved
      ? outer.ids.local
      : ((settings.adopts ? global : undefined) ?? settings.generate(req));
    const issued: Issued = { ids: { local, global }, settings, reserved: false, req };
    issue(issued);
    if (settings.assigns) (req as IncomingMessage & { id?: unknown }).id = local;
    if (!res.headersSent) writeHeaders(res, issued, outer);
    return settings.context ? runWith(issued, next) : next();
  }

  return Object.assign(requestIdMiddleware, { genReqId: reservesFor(settings) });
}

function writeHeaders(
  res: ServerResponse,
  { ids, settings }: { readonly ids: Issued['ids']; readonly settings: Settings },
  outer: Issued | undefined,
): void {
  if (outer && !outer.reserved) {
    for (const { name, key } of outer.settings.headers) {
      if (res.getHeader(key) === outer.ids.local) res.setHeader(name, ids.local);
    }
  }
  for (const { name, key } of settings.headers) if (!res.hasHeader(key)) res.setHeader(name, ids.local);
}
