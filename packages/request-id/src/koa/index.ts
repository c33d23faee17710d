import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestId } from '../request-id.js';
import type { RequestIdOptions } from '../settings.js';

/** The properties of a Koa context that the middleware uses. */
export interface KoaContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** Middleware for Koa. */
export type KoaRequestId = (context: KoaContext, next: () => Promise<any>) => Promise<any>;

/**
 * Returns Koa middleware that assigns an id to every request, in `ctx.req.id`.
 *
 * @throws TypeError for options that `requestId()` does not accept
 *
 * @example
 * ```ts
 * import { koaRequestId } from '@apistrata/request-id/koa';
 *
 * declare const app: { use(middleware: ReturnType<typeof koaRequestId>): unknown };
 * app.use(koaRequestId({ preset: 'w3c' }));
 * ```
 */
export function koaRequestId(options: RequestIdOptions = {}): KoaRequestId {
  const requestIdMiddleware = requestId(options);
  return ({ req, res }, next) => requestIdMiddleware(req, res, () => next());
}
