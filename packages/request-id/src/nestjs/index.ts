import { requestId } from '../request-id.js';
import type { RequestIdOptions } from '../settings.js';

/** The methods of NestJS's `MiddlewareConsumer` that the module uses. */
export interface MiddlewareRoutes {
  apply(...middleware: any[]): { forRoutes(...routes: any[]): unknown };
}

/** A NestJS dynamic module. */
export interface DynamicRequestIdModule {
  module: new () => { configure(consumer: MiddlewareRoutes): void };
}

/**
 * A NestJS module that assigns an id to every request, in `req.id`.
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
        }
      },
    };
  },
};
