import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ByVersionOptions, type Handler, handlerSelector } from '../by-version.js';
import { negotiateVersion, type Rejection, rejectionOf } from '../frameworks/rejection.js';
import type { VersionMiddleware } from '../negotiation/version-middleware.js';
import type { Window } from '../windowed.js';

/** The properties of a Koa context that the middleware uses. */
export interface KoaContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  status: number;
  body: unknown;
  set(name: string, value: string): void;
}

/** Middleware for Koa. */
export type KoaMicroversion = (context: KoaContext, next: () => Promise<any>) => Promise<any>;

/**
 * Returns Koa middleware that negotiates the version of each request. `microversionOf(ctx.req)` returns the version.
 *
 * @example
 * ```ts
 * import { versioning } from '@apistrata/microversion';
 * import { koaMicroversion } from '@apistrata/microversion/koa';
 *
 * declare const app: { use(middleware: ReturnType<typeof koaMicroversion>): unknown };
 * app.use(koaMicroversion(versioning({ versions: ['2025-03-01', '2026-11-22'] })));
 * ```
 */
export function koaMicroversion(versions: VersionMiddleware): KoaMicroversion {
  return async (context, next) => {
    const rejection = await negotiateVersion(versions, context.req, context.res);
    return rejection ? send(context, rejection) : next();
  };
}

/**
 * Combines middleware that serves different version ranges (windows) into one Koa middleware. If none serves the
 * negotiated version, the response is 404.
 *
 * @throws RangeError if windows overlap
 */
export function byVersion<H extends Handler>(
  handlers: Window<H> | readonly Window<H>[],
  options: ByVersionOptions = {},
): H {
  const select = handlerSelector(handlers, options);
  return function byVersionMiddleware(context: KoaContext, next: () => Promise<unknown>) {
    const selected = select(context.req, context.res);
    return typeof selected === 'function' ? selected(context, next) : send(context, rejectionOf(selected, context.req));
  } as H;
}

function send(context: KoaContext, { status, contentType, body }: Rejection): void {
  context.status = status;
  context.set('Content-Type', contentType);
  context.body = body;
}
