import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasResponded } from '../has-responded.js';
import type { Healthcheck } from '../healthcheck.js';

/** The methods of a Fastify instance that the plugin uses. */
export interface FastifyHooks {
  addHook(name: 'onRequest', hook: (...args: any[]) => Promise<void>): unknown;
}

/** A plugin for `fastify.register()`. */
export type FastifyHealthcheck = (instance: FastifyHooks, options: unknown, done: () => void) => void;

interface Reply {
  readonly raw: ServerResponse;
  hijack(): void;
}

/**
 * Returns a Fastify plugin that serves the endpoints of a health check before all routes.
 *
 * @example
 * ```ts
 * import { healthcheck } from '@apistrata/healthcheck';
 * import { fastifyHealthcheck } from '@apistrata/healthcheck/fastify';
 *
 * declare const fastify: { register(plugin: ReturnType<typeof fastifyHealthcheck>): unknown };
 * fastify.register(fastifyHealthcheck(healthcheck()));
 * ```
 */
export function fastifyHealthcheck(health: Healthcheck): FastifyHealthcheck {
  const plugin: FastifyHealthcheck = (instance, _options, done) => {
    instance.addHook('onRequest', async ({ raw }: { readonly raw: IncomingMessage }, reply: Reply) => {
      if (await hasResponded(health, raw, reply.raw)) reply.hijack();
    });
    done();
  };
  // Without this symbol, Fastify runs the plugin's hooks only for routes that the plugin itself registers.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}
