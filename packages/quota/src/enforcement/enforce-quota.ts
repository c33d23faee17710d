import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EnforceQuotaOptions } from './enforce-options.js';
import { type Admission, enforcement } from './enforcement.js';
import type { Rejection } from './rejection.js';

/** Middleware for Express 4 and 5. In bare `node:http`, pass the handler as `next`. */
export type EnforceQuotaMiddleware<Req extends IncomingMessage = IncomingMessage> = (
  req: Req,
  res: ServerResponse,
  next: (error?: unknown) => unknown,
) => Promise<void>;

/**
 * Creates middleware that reserves part of a project's quota before the handler runs. The reservation is committed if
 * the handler succeeds, and released if it fails or throws. If the client disconnects, the handler may still create the
 * resource, so the status with which it ends the response decides between commit and release. If the handler never ends
 * the response, the reservation expires after its time-to-live.
 *
 * The response ends only after the store has settled the reservation, so the client can rely on the new usage: released
 * quota is available again, and created resources are counted.
 *
 * @throws TypeError or InvalidQuota if an option is invalid
 */
export function enforceQuota<Req extends IncomingMessage = IncomingMessage>(
  options: EnforceQuotaOptions<Req>,
): EnforceQuotaMiddleware<Req> {
  const admit = enforcement(options);

  return async function enforceQuotaMiddleware(req, res, next) {
    let admission: Admission;
    try {
      admission = await admit({ req, raw: req, res });
    } catch (error) {
      next(error);
      return;
    }
    if (!admission) return;
    if ('rejection' in admission) {
      send(res, admission.rejection);
      return;
    }
    try {
      await next();
    } catch (error) {
      // In bare `node:http`, the caller of the middleware receives the error; Express catches handler errors and responds.
      admission.threw();
      throw error;
    }
  };
}

function send(res: ServerResponse, { status, contentType, body }: Rejection): void {
  res.statusCode = status;
  res.setHeader('Content-Type', contentType);
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.end(body);
}
