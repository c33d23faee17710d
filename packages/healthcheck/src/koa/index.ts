import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasResponded } from '../has-responded.js';
import type { Healthcheck } from '../healthcheck.js';

/** The properties of a Koa context that the middleware uses. */
export interface KoaContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  respond?: boolean;
}

/** Middleware for Koa. */
export type KoaHealthcheck = (context: KoaContext, next: () => Promise<any>) => Promise<any>;

/**
 * Returns Koa middleware that serves the endpoints of a health check.
 *
 * @example
 * ```ts
 * import { healthcheck } from '@apistrata/healthcheck';
 * import { koaHealthcheck } from '@apistrata/healthcheck/koa';
 *
 * declare const app: { use(middleware: ReturnType<typeof koaHealthcheck>): unknown };
 * app.use(koaHealthcheck(healthcheck()));
 * ```
 */
export function koaHealthcheck(health: Healthcheck): KoaHealthcheck {
  return async (context, next) => {
    if (!(await hasResponded(health, context.req, context.res))) return next();
    context.respond = false;
  };
}
