import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ByVersionOptions, type Handler, handlerSelector } from '../by-version.js';
import { negotiateVersion, type Rejection, rejectionOf, requireUnchangedPath } from '../frameworks/rejection.js';
import type { VersionMiddleware } from '../negotiation/version-middleware.js';
import type { Window } from '../windowed.js';

/** The properties of a Hono context that the middleware uses. `env` contains the bindings of `@hono/node-server`. */
export interface HonoContext {
  readonly env: any;
  /** Creates a response that includes the headers that are already set. */
  body(data: any, ...rest: any[]): Response;
}

/** Middleware for Hono on Node. */
export type HonoMicroversion = (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined>;

interface Bindings {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/**
 * Returns Hono middleware, for `@hono/node-server`, that negotiates the version of each request.
 * `microversionOf(c.env.incoming)` returns it.
 *
 * @throws TypeError for middleware with `pathPrefix()`, because Hono selects the route before middleware runs
 *
 * @example
 * ```ts
 * import { versioning } from '@apistrata/microversion';
 * import { honoMicroversion } from '@apistrata/microversion/hono';
 *
 * declare const app: { use(middleware: ReturnType<typeof honoMicroversion>): unknown };
 * app.use(honoMicroversion(versioning({ versions: ['2025-03-01', '2026-11-22'] })));
 * ```
 */
export function honoMicroversion(versions: VersionMiddleware): HonoMicroversion {
  requireUnchangedPath(versions, 'honoMicroversion', 'use a base path for each version and a header instead');
  return async (context, next) => {
    const { incoming, outgoing } = context.env as Bindings;
    const rejection = await negotiateVersion(versions, incoming, outgoing);
    if (rejection) return responseOf(context, rejection);
    await next();
    return undefined;
  };
}

/**
 * Combines handlers that serve different version ranges (windows) into one Hono handler. If no handler serves the
 * negotiated version, the response is 404.
 *
 * @throws RangeError if windows overlap
 */
export function byVersion<H extends Handler>(
  handlers: Window<H> | readonly Window<H>[],
  options: ByVersionOptions = {},
): H {
  const select = handlerSelector(handlers, options);
  return function byVersionHandler(context: HonoContext, next: () => Promise<void>) {
    const { incoming, outgoing } = context.env as Bindings;
    const selected = select(incoming, outgoing);
    return typeof selected === 'function'
      ? selected(context, next)
      : responseOf(context, rejectionOf(selected, incoming));
  } as H;
}

function responseOf(context: HonoContext, { status, contentType, body }: Rejection): Response {
  return context.body(body, status, { 'Content-Type': contentType });
}
