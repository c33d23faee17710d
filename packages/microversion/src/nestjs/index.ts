import type { IncomingMessage, ServerResponse } from 'node:http';
import { requireUnchangedPath } from '../frameworks/rejection.js';
import { microversionOf } from '../negotiation/negotiated.js';
import type { VersionMiddleware } from '../negotiation/version-middleware.js';
import type { Version } from '../version.js';

/** The methods of NestJS's `MiddlewareConsumer` that the module uses. */
export interface MiddlewareRoutes {
  apply(...middleware: any[]): { forRoutes(...routes: any[]): unknown };
  getHttpAdapter?(): { getType(): string; getInstance(): any };
}

/** A NestJS dynamic module. */
export interface DynamicMicroversionModule {
  module: new () => { configure(consumer: MiddlewareRoutes): void };
}

/** The middleware that `versioning()` or `microversion()` creates. */
export type ExpressVersions = VersionMiddleware &
  ((req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => unknown) => unknown);

/**
 * A NestJS module that negotiates the version of each request and stores it in `req.microversion`. With `FastifyAdapter`,
 * the version is also in `req.raw.microversion`.
 *
 * @example
 * ```ts
 * import { versioning } from '@apistrata/microversion';
 * import { MicroversionModule } from '@apistrata/microversion/nestjs';
 *
 * // For the imports of a module.
 * const imports = [MicroversionModule.forRoot(versioning({ versions: ['2025-03-01', '2026-11-22'] }))];
 * ```
 */
export const MicroversionModule: { forRoot(versions: ExpressVersions): DynamicMicroversionModule } = {
  forRoot(versions) {
    requireUnchangedPath(versions, 'MicroversionModule', 'use app.use(versioning({ ... })) instead');
    return {
      module: class MicroversionModule {
        configure(consumer: MiddlewareRoutes): void {
          consumer.apply(versions).forRoutes('{*path}');
          const adapter = consumer.getHttpAdapter?.();
          if (adapter?.getType() !== 'fastify') return;
          // Fastify passes its own request to handlers, and Node's request, which has the version, to middleware.
          adapter.getInstance().addHook('onRequest', (request: FastifyRequest, _reply: unknown, done: () => void) => {
            request.microversion = microversionOf(request.raw);
            done();
          });
        }
      },
    };
  },
};

interface FastifyRequest {
  readonly raw: IncomingMessage;
  microversion?: Version | undefined;
}
