import type { IncomingMessage, ServerResponse } from 'node:http';
import { runWithIds } from './current.js';
import { createGenReqId } from './gen-req-id.js';
import { inboundIdOf } from './inbound-id.js';
import { type IssuedIds, issuedIdsOf, storeIssuedIds } from './issued.js';
import { type RequestIdOptions, type Settings, settingsFrom } from './settings.js';

/** Middleware for Express 4 and 5. In bare `node:http`, pass the rest of the handler as `next`. Returns the result of `next`. */
export interface RequestIdMiddleware {
  <T>(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => T): T;
  /**
   * Returns the local id of a request, for `pinoHttp({ genReqId })` and `fastify({ genReqId })`. If the logger runs
   * before the middleware, reserves the id.
   */
  readonly genReqId: (req: IncomingMessage) => string;
}

/**
 * Creates middleware that assigns an id to every request: the valid id that the proxy or client sent, or a new id. The id is in
 * `req.id` and in the response headers, and `currentRequestId()` and `headersFor()` return it.
 *
 * The response headers are set before the handler runs, so headers that the handler sets replace them. Headers that are
 * already set are preserved, except those of an outer `requestId()`, whose id is replaced.
 *
 * @throws TypeError on creation, for an unknown option or an invalid header name
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
    const outer = issuedIdsOf(req);
    const global = inboundIdOf(req, settings);
    // If a logger has reserved an id, that id is used, so that the log and the response contain the same id.
    const local = outer?.reserved
      ? outer.ids.local
      : ((settings.adopts ? global : undefined) ?? settings.generate(req));
    const issuedIds: IssuedIds = { ids: { local, global }, settings, reserved: false, req };
    storeIssuedIds(issuedIds);
    if (settings.assigns) (req as IncomingMessage & { id?: unknown }).id = local;
    if (!res.headersSent) writeHeaders(res, issuedIds, outer);
    return settings.context ? runWithIds(issuedIds, next) : next();
  }

  return Object.assign(requestIdMiddleware, { genReqId: createGenReqId(settings) });
}

function writeHeaders(
  res: ServerResponse,
  { ids, settings }: { readonly ids: IssuedIds['ids']; readonly settings: Settings },
  outer: IssuedIds | undefined,
): void {
  if (outer && !outer.reserved) {
    for (const { name, key } of outer.settings.headers) {
      if (res.getHeader(key) === outer.ids.local) res.setHeader(name, ids.local);
    }
  }
  for (const { name, key } of settings.headers) if (!res.hasHeader(key)) res.setHeader(name, ids.local);
}
