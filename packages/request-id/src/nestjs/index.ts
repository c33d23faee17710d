import { requestId } from '../request-id.js';
import type { RequestIdOptions } from '../settings.js';

/** The methods of NestJS's `MiddlewareConsumer` that the module uses. */
export interface MiddlewareRoutes {
  apply(...middleware: any[]): { forRoutes(...routes: any[]): unknown };
  getHttpAdapter?(): { getType(): string; getInstance(): any };
}

/** A NestJS dynamic module. */
export interface DynamicRequestIdModule {
  module: new () => { configure(consumer: MiddlewareRoutes): void };
}

/**
 * A NestJS module that assigns an id to every request, in `req.id`. With `FastifyAdapter`, the id is also in `req.raw.id`, and
 * `requestIdOf()` and `headersFor()` accept `req.raw`.
 *
 * @example
 * ```ts
 * import { RequestIdModule } from '@apistrata/request-id/nestjs';
 *
 * // For the imports of a module.
 * const imports = [RequestIdModule.forRoot({ preset: 'envoy' })];
 * ```
 */
export const RequestIdModule: { forRoot(options?: RequestIdOptions): DynamicRequestIdModule } = {
  forRoot(options = {}) {
    const requestIdMiddleware = requestId(options);
    return {
      module: class RequestIdModule {
        configure(consumer: MiddlewareRoutes): void {
          consumer.apply(requestIdMiddleware).forRoutes('{*path}');
          const adapter = consumer.getHttpAdapter?.();
          if (adapter?.getType() !== 'fastify' || options.assign === false) return;
          // Fastify passes its own request to handlers, and Node's request, which has the id, to middleware.
          adapter.getInstance().addHook('onRequest', (request: FastifyRequest, _reply: unknown, done: () => void) => {
            request.id = request.raw.id;
            done();
          });
        }
      },
    };
  },
};

interface FastifyRequest {
  readonly raw: { readonly id?: string };
  id?: string;
}
