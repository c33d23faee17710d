import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestId } from '../request-id.js';
import type { RequestIdOptions } from '../settings.js';

/** The properties of a Hono context that the middleware uses. `env` contains the bindings of `@hono/node-server`. */
export interface HonoContext {
  readonly env: any;
}

/** Middleware for Hono on Node. */
export type HonoRequestId = (context: HonoContext, next: () => Promise<void>) => Promise<void>;

/**
 * Returns Hono middleware, for `@hono/node-server`, that assigns an id to every request, in `c.env.incoming.id`.
 *
 * @throws TypeError for options that `requestId()` does not accept
 *
 * @example
 * ```ts
 * import { honoRequestId } from '@apistrata/request-id/hono';
 *
 * declare const app: { use(middleware: ReturnType<typeof honoRequestId>): unknown };
 * app.use(honoRequestId());
 * ```
 */
export function honoRequestId(options: RequestIdOptions = {}): HonoRequestId {
  const requestIdMiddleware = requestId(options);
  return ({ env }, next) => {
    const { incoming, outgoing } = env as { incoming: IncomingMessage; outgoing: ServerResponse };
    return requestIdMiddleware(incoming, outgoing, () => next());
  };
}
