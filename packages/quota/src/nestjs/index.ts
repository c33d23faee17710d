import type { IncomingMessage } from 'node:http';
import type { EnforceQuotaOptions } from '../enforcement/enforce-options.js';
import { type EnforceQuotaMiddleware, enforceQuota } from '../enforcement/enforce-quota.js';
import { type FastifyRequestParts, fastifyQuota } from '../fastify/index.js';

/** The methods of NestJS's `MiddlewareConsumer` that the module uses. */
export interface MiddlewareRoutes {
  apply(...middleware: any[]): { forRoutes(...routes: any[]): unknown };
}

/** A NestJS dynamic module. */
export interface DynamicQuotaModule {
  module: new () => { configure(consumer: MiddlewareRoutes): void };
}

/** Options for `QuotaModule.forRoot()`. */
export interface QuotaModuleOptions {
  /** The middleware that `enforceQuota()` created. */
  readonly enforce: EnforceQuotaMiddleware<any>;
  /**
   * The routes on which the quota is enforced, as NestJS's `forRoutes()` accepts them: paths, controllers or
   * `{ path, method }`.
   */
  readonly routes: readonly unknown[];
}

/**
 * A NestJS module that enforces a quota on routes. Its middleware runs before all guards. If a guard authenticates
 * callers, use `quotaGuard()` after that guard instead.
 *
 * @example
 * ```ts
 * import { enforceQuota, memoryStore, projectQuotas } from '@apistrata/quota';
 * import { QuotaModule } from '@apistrata/quota/nestjs';
 *
 * const quota = projectQuotas({ store: memoryStore(), defaults: { invoices: 500 } });
 * const enforce = enforceQuota({ quota, kind: 'invoices', project: (req) => String(req.headers['x-account']) });
 * // For the imports of a module.
 * const imports = [QuotaModule.forRoot({ enforce, routes: ['invoices'] })];
 * ```
 */
export const QuotaModule: { forRoot(options: QuotaModuleOptions): DynamicQuotaModule } = {
  forRoot({ enforce, routes }) {
    return {
      module: class QuotaModule {
        configure(consumer: MiddlewareRoutes): void {
          consumer.apply(enforce).forRoutes(...routes);
        }
      },
    };
  },
};

/** The methods of a NestJS execution context that the guard uses. */
export interface HttpContext {
  switchToHttp(): { getRequest(): any; getResponse(): any };
}

/** A NestJS guard. */
export interface QuotaGuard {
  canActivate(context: HttpContext): Promise<boolean>;
}

/**
 * Returns a NestJS guard that enforces a quota as `enforceQuota()` does. List it in a route's `@UseGuards()`, after the
 * guard that authenticates the caller. With `FastifyAdapter`, functions in the options receive the Fastify request, and
 * Fastify sends the rejections.
 *
 * @throws TypeError or InvalidQuota for options that `enforceQuota()` does not accept
 */
export function quotaGuard<Req extends IncomingMessage | FastifyRequestParts = IncomingMessage>(
  options: EnforceQuotaOptions<Req>,
): QuotaGuard {
  const enforce = enforceQuota(options as EnforceQuotaOptions<any>);
  const enforceInFastify = fastifyQuota(options as EnforceQuotaOptions<any>);
  return {
    async canActivate(context) {
      const http = context.switchToHttp();
      const [req, res] = [http.getRequest(), http.getResponse()];
      // After a rejection, the promise remains pending: the response is sent, and neither NestJS nor the handler responds.
      const pending = () => new Promise<never>(() => undefined);
      if (req.raw) {
        await enforceInFastify(req, res);
        return res.sent ? pending() : true;
      }
      return new Promise((resolve, reject) => {
        enforce(req, res, (error) => (error === undefined ? resolve(true) : reject(error))).catch(reject);
      });
    },
  };
}
