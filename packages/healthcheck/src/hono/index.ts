import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasResponded } from '../has-responded.js';
import type { Healthcheck } from '../healthcheck.js';

/** The properties of a Hono context that the middleware uses. `env` contains the bindings of `@hono/node-server`. */
export interface HonoContext {
  readonly env: any;
}

/** Middleware for Hono on Node. */
export type HonoHealthcheck = (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined>;

/**
 * Returns Hono middleware, for `@hono/node-server`, that serves the endpoints of a health check.
 *
 * @example
 * ```ts
 * import { healthcheck } from '@apistrata/healthcheck';
 * import { honoHealthcheck } from '@apistrata/healthcheck/hono';
 *
 * declare const app: { use(middleware: ReturnType<typeof honoHealthcheck>): unknown };
 * app.use(honoHealthcheck(healthcheck()));
 * ```
 */
export function honoHealthcheck(health: Healthcheck): HonoHealthcheck {
  return async ({ env }, next) => {
    const { incoming, outgoing } = env as { incoming: IncomingMessage; outgoing: ServerResponse };
    if (!(await hasResponded(health, incoming, outgoing))) {
      await next();
      return undefined;
    }
    // This header indicates to `@hono/node-server` that the real response was already sent.
    const sent = new Response(null, { headers: { 'x-hono-already-sent': 'true' } });
    // `@hono/node-server` replaces `Response` with a class whose headers it ignores until the body has been accessed.
    void sent.bodyUsed;
    return sent;
  };
}
