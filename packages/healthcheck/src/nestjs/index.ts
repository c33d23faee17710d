import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Healthcheck } from '../healthcheck.js';

/** The methods of NestJS's `MiddlewareConsumer` that the module uses. */
export interface MiddlewareRoutes {
  apply(...middleware: any[]): { forRoutes(...routes: any[]): unknown };
}

/** A NestJS dynamic module. */
export interface DynamicHealthcheckModule {
  module: new () => { configure(consumer: MiddlewareRoutes): void; beforeApplicationShutdown(): void };
}

/**
 * A NestJS module that serves the endpoints of a health check, and makes them fail when the application shuts down
 * (`app.enableShutdownHooks()`).
 *
 * @example
 * ```ts
 * import { healthcheck } from '@apistrata/healthcheck';
 * import { HealthcheckModule } from '@apistrata/healthcheck/nestjs';
 *
 * // For the imports of a module.
 * const health = healthcheck();
 * const imports = [HealthcheckModule.forRoot(health)];
 * ```
 */
export const HealthcheckModule: { forRoot(health: Healthcheck): DynamicHealthcheckModule } = {
  forRoot(health) {
    return {
      module: class HealthcheckModule {
        configure(consumer: MiddlewareRoutes): void {
          consumer.apply(withoutMountPath(health)).forRoutes('{*path}');
        }

        beforeApplicationShutdown(): void {
          health.shutdown();
        }
      },
    };
  },
};

/**
 * Hides the mount path from a health check. NestJS mounts middleware at the path of each request, and a mounted health
 * check would respond to every request.
 */
function withoutMountPath(health: Healthcheck) {
  return (req: IncomingMessage & { baseUrl?: string }, res: ServerResponse, next: (error?: unknown) => void): void => {
    const { baseUrl } = req;
    req.baseUrl = '';
    health(req, res, (error) => {
      req.baseUrl = baseUrl;
      next(error);
    });
  };
}
