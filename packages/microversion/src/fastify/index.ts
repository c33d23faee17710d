import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ByVersionOptions, type Handler, handlerSelector } from '../by-version.js';
import { negotiateVersion, type Rejection, rejectionOf, requireUnchangedPath } from '../frameworks/rejection.js';
import type { VersionMiddleware } from '../negotiation/version-middleware.js';
import type { Window } from '../windowed.js';

/** The methods of a Fastify instance that the plugin uses. */
export interface FastifyHooks {
  addHook(name: 'onRequest', hook: (...args: any[]) => Promise<unknown>): unknown;
}

/** A plugin for `fastify.register()`, which applies to all routes of the instance. */
export type FastifyMicroversion = (instance: FastifyHooks, options: unknown, done: () => void) => void;

interface Request {
  readonly raw: IncomingMessage;
}

interface Reply {
  readonly raw: ServerResponse;
  code(status: number): Reply;
  header(name: string, value: string): Reply;
  send(body: Buffer): Reply;
}

/**
 * Returns a Fastify plugin that negotiates the version of each request. `microversionOf(request.raw)` returns it.
 *
 * @throws TypeError for middleware with `pathPrefix()`, because Fastify selects the route before plugins run
 *
 * @example
 * ```ts
 * import { versioning } from '@apistrata/microversion';
 * import { fastifyMicroversion } from '@apistrata/microversion/fastify';
 *
 * declare const fastify: { register(plugin: ReturnType<typeof fastifyMicroversion>): unknown };
 * fastify.register(fastifyMicroversion(versioning({ versions: ['2025-03-01', '2026-11-22'] })));
 * ```
 */
export function fastifyMicroversion(versions: VersionMiddleware): FastifyMicroversion {
  requireUnchangedPath(versions, 'fastifyMicroversion', "move the version to a header in Fastify's rewriteUrl");
  const plugin: FastifyMicroversion = (instance, _options, done) => {
    instance.addHook('onRequest', async ({ raw }: Request, reply: Reply) => {
      const rejection = await negotiateVersion(versions, raw, reply.raw);
      return rejection && send(reply, rejection);
    });
    done();
  };
  // Without this symbol, Fastify runs the plugin's hooks only for routes that the plugin itself registers.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}

/**
 * Combines handlers that serve different version ranges (windows) into one Fastify handler. If no handler serves the
 * negotiated version, the response is 404.
 *
 * @throws RangeError if windows overlap
 */
export function byVersion<H extends Handler>(
  handlers: Window<H> | readonly Window<H>[],
  options: ByVersionOptions = {},
): H {
  const select = handlerSelector(handlers, options);
  return function byVersionHandler(this: unknown, request: Request, reply: Reply) {
    const selected = select(request.raw, reply.raw);
    if (typeof selected === 'function') return selected.call(this, request, reply);
    return send(reply, rejectionOf(selected, request.raw));
  } as H;
}

function send(reply: Reply, { status, contentType, body }: Rejection): Reply {
  // Sent as a buffer, because Fastify adds a charset to the content type of JSON strings.
  return reply.code(status).header('content-type', contentType).send(Buffer.from(body));
}
