import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestId } from '../request-id.js';
import type { RequestIdOptions } from '../settings.js';

/** The methods of a Fastify instance that the plugin uses. */
export interface FastifyHooks {
  addHook(name: 'onRequest', hook: (...args: any[]) => void): unknown;
}

/** A plugin for `fastify.register()`, which applies to all routes of the instance. */
export type FastifyRequestId = (instance: FastifyHooks, options: unknown, done: () => void) => void;

/**
 * Returns a Fastify plugin that assigns an id to every request, in `request.id` and `request.raw.id`.
 *
 * @throws TypeError for options that `requestId()` does not accept
 *
 * @example
 * ```ts
 * import { fastifyRequestId } from '@apistrata/request-id/fastify';
 *
 * declare const fastify: { register(plugin: ReturnType<typeof fastifyRequestId>): unknown };
 * fastify.register(fastifyRequestId({ preset: 'nginx' }));
 * ```
 */
export function fastifyRequestId(options: RequestIdOptions = {}): FastifyRequestId {
  const requestIdMiddleware = requestId(options);
  const plugin: FastifyRequestId = (instance, _options, done) => {
    instance.addHook('onRequest', (request: Request, reply: { readonly raw: ServerResponse }, next: () => void) => {
      requestIdMiddleware(request.raw, reply.raw, () => {
        if (options.assign !== false) request.id = (request.raw as IncomingMessage & { id?: string }).id;
        next();
      });
    });
    done();
  };
  // Without this symbol, Fastify runs the plugin's hooks only for routes that the plugin itself registers.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}

interface Request {
  readonly raw: IncomingMessage;
  id?: string;
}
