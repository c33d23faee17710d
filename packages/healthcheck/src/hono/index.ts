import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Healthcheck } from '../healthcheck.js';
import { served } from '../served.js';

/** The part of a Hono context that the middleware uses; `env` is what `@hono/node-server` provides. */
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
    if (!(await served(health, incoming, outgoing))) {
      await next();
      return undefined;
    }
    // `@hono/node-server` detects by this header that the response is sent.
    const sent = new Response(null, { headers: { 'x-hono-already-sent': 'true' } });
    // The server replaces `Response` with a class that it writes without checking its headers, until its body is
    // accessed.
    void sent.bodyUsed;
    return sent;
  };
}
