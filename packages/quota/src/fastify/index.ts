import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EnforceQuotaOptions } from '../enforcement/enforce-options.js';
import { enforcement } from '../enforcement/enforcement.js';

/** The properties of a Fastify request that the hook uses. */
export interface FastifyRequestParts {
  readonly raw: IncomingMessage;
  readonly headers: IncomingMessage['headers'];
}

/** The properties of a Fastify reply that the hook uses. */
export interface FastifyReplyParts {
  readonly raw: ServerResponse;
  code(status: any): any;
  header(name: any, value: any): any;
  send(body: any): any;
  hijack(): any;
}

/** A `preHandler` hook for a Fastify route. */
export type FastifyQuota<Request> = (request: Request, reply: FastifyReplyParts) => Promise<unknown>;

/**
 * Returns a Fastify hook that enforces a quota as `enforceQuota()` does. Functions in the options receive the Fastify request.
 *
 * @throws TypeError or InvalidQuota for options that `enforceQuota()` does not accept
 *
 * @example
 * ```ts
 * import { memoryStore, projectQuotas } from '@apistrata/quota';
 * import { fastifyQuota } from '@apistrata/quota/fastify';
 *
 * const quota = projectQuotas({ store: memoryStore(), defaults: { invoices: 500 } });
 * const counted = fastifyQuota({ quota, kind: 'invoices', project: ({ headers }) => String(headers['x-account']) });
 * declare const fastify: { post(path: string, options: { preHandler: typeof counted }, handler: () => unknown): unknown };
 * fastify.post('/invoices', { preHandler: counted }, async () => ({}));
 * ```
 */
export function fastifyQuota<Request extends FastifyRequestParts = FastifyRequestParts>(
  options: EnforceQuotaOptions<Request>,
): FastifyQuota<Request> {
  const admit = enforcement(options);
  return async (request, reply) => {
    const admission = await admit({ req: request, raw: request.raw, res: reply.raw });
    // Fastify runs the handler unless the reply is sent or hijacked.
    if (!admission) return reply.hijack();
    if ('threw' in admission) return undefined;
    const { status, contentType, body } = admission.rejection;
    reply.code(status);
    reply.header('content-type', contentType);
    // Sent as a buffer, because Fastify adds a charset to the content type of JSON strings.
    return reply.send(Buffer.from(body));
  };
}
