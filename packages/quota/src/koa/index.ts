import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EnforceQuotaOptions } from '../enforcement/enforce-options.js';
import { enforcement } from '../enforcement/enforcement.js';

/** The properties of a Koa context that the middleware uses. */
export interface KoaContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  status: number;
  body: unknown;
  respond?: boolean;
  set(name: string, value: string): void;
}

/** Middleware for Koa. */
export type KoaQuota<Context> = (context: Context, next: () => Promise<any>) => Promise<any>;

/**
 * Returns Koa middleware that enforces a quota as `enforceQuota()` does. Functions in the options receive the Koa context.
 *
 * @throws TypeError or InvalidQuota for options that `enforceQuota()` does not accept
 *
 * @example
 * ```ts
 * import { memoryStore, projectQuotas } from '@apistrata/quota';
 * import { koaQuota } from '@apistrata/quota/koa';
 *
 * const quota = projectQuotas({ store: memoryStore(), defaults: { invoices: 500 } });
 * const counted = koaQuota({ quota, kind: 'invoices', project: ({ req }) => String(req.headers['x-account']) });
 * declare const router: { post(path: string, ...middleware: (typeof counted)[]): unknown };
 * router.post('/invoices', counted);
 * ```
 */
export function koaQuota<Context extends KoaContext = KoaContext>(
  options: EnforceQuotaOptions<Context>,
): KoaQuota<Context> {
  const admit = enforcement(options);
  return async (context, next) => {
    const admission = await admit({ req: context, raw: context.req, res: context.res });
    if (!admission) {
      context.respond = false;
      return undefined;
    }
    if ('rejection' in admission) {
      const { status, contentType, body } = admission.rejection;
      context.status = status;
      context.set('Content-Type', contentType);
      context.body = body;
      return undefined;
    }
    try {
      return await next();
    } catch (error) {
      // Outer middleware may respond to the error with any status, so the status does not show whether the handler
      // failed.
      admission.threw();
      throw error;
    }
  };
}
