import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EnforceQuotaOptions } from '../enforcement/enforce-options.js';
import { enforcement } from '../enforcement/enforcement.js';

/** The properties of a Hono context that the middleware uses. `env` contains the bindings of `@hono/node-server`. */
export interface HonoContext {
  readonly env: any;
  readonly req: { header(name: string): string | undefined };
  /** Creates a response that includes the headers that are already set. */
  body(data: any, ...rest: any[]): Response;
}

/** Middleware for Hono on Node. */
export type HonoQuota<Context> = (context: Context, next: () => Promise<void>) => Promise<Response | undefined>;

/**
 * Returns Hono middleware, for `@hono/node-server`, that enforces a quota as `enforceQuota()` does. Functions in the options
 * receive the Hono context.
 *
 * @throws TypeError or InvalidQuota for options that `enforceQuota()` does not accept
 *
 * @example
 * ```ts
 * import { memoryStore, projectQuotas } from '@apistrata/quota';
 * import { honoQuota } from '@apistrata/quota/hono';
 *
 * const quota = projectQuotas({ store: memoryStore(), defaults: { invoices: 500 } });
 * const counted = honoQuota({ quota, kind: 'invoices', project: (c) => String(c.req.header('x-account')) });
 * declare const app: { post(path: string, ...middleware: (typeof counted)[]): unknown };
 * app.post('/invoices', counted);
 * ```
 */
export function honoQuota<Context extends HonoContext = HonoContext>(
  options: EnforceQuotaOptions<Context>,
): HonoQuota<Context> {
  const admit = enforcement(options);
  return async (context, next) => {
    const { incoming, outgoing } = context.env as { incoming: IncomingMessage; outgoing: ServerResponse };
    const admission = await admit({ req: context, raw: incoming, res: outgoing });
    if (!admission) return alreadySentResponse();
    if ('rejection' in admission) {
      const { status, contentType, body } = admission.rejection;
      return context.body(body, status, { 'Content-Type': contentType });
    }
    // Hono responds to handler errors, and the status of that response decides whether the reservation is committed.
    await next();
    return undefined;
  };
}

/** Returns a response that `@hono/node-server` does not send, because the real response was already sent. */
function alreadySentResponse(): Response {
  const sent = new Response(null, { headers: { 'X-Hono-Already-Sent': 'true' } });
  // `@hono/node-server` replaces `Response` with a class whose headers it ignores until the body has been accessed.
  void sent.bodyUsed;
  return sent;
}
