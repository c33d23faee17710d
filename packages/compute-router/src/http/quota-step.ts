import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ProjectQuotas } from '@apistrata/quota';
import { IdentityError, type ProjectQuotaRouterOptions, projectQuotaRouter } from '@apistrata/quota/router';
import type { ComputeRouterOptions } from '../compute-router.js';
import { IdentityUnavailable } from '../identity/index.js';
import { policies } from '../policy/index.js';
import type { Middleware } from './middleware.js';
import { applyRateLimit, RateLimitExceeded } from './rate-limited.js';

const QUOTA_PATH = /^(?:https?:\/\/[^/?#]*)?\/+v1(?:[/?]|$)/i;

/** The default role that may manage project quotas. */
const ADMIN_ROLE = 'key-manager:service-admin';

/** Converts an authentication or rate-limit error to the error that the quota router expects. */
function toIdentityError(error: unknown): unknown {
  if (error instanceof IdentityUnavailable) return new IdentityError(503, error.message, { 'Retry-After': '5' });
  if (!(error instanceof RateLimitExceeded)) return error;
  return new IdentityError(429, error.message, { 'Retry-After': String(error.retryAfterSeconds) });
}

/**
 * Creates the middleware that serves the project-quota API with the same authentication, rate limits and version
 * headers as the compute API. Administrators with a system-scoped token may manage project quotas.
 */
export function createQuotaStep(
  quota: ProjectQuotas | Omit<ProjectQuotaRouterOptions, 'identity'>,
  options: ComputeRouterOptions,
): Middleware {
  const { identity, headers = 'both', trustProxy, rateLimit, policies: rules = policies() } = options;
  const routerOptions = 'quota' in quota ? quota : { quota };
  const responses = new WeakMap<IncomingMessage, ServerResponse>();

  async function callerOf(req: IncomingMessage) {
    const caller = await identity(req);
    if (!caller) return undefined;
    const pendingVerdict = rateLimit?.count(caller);
    const res = responses.get(req);
    if (pendingVerdict && res) applyRateLimit(await pendingVerdict, res);
    const isSystemAdmin = caller.systemScope === true && rules.isAdmin(caller);
    return isSystemAdmin ? { ...caller, roles: [...caller.roles, routerOptions.adminRole ?? ADMIN_ROLE] } : caller;
  }

  const serveQuotas = projectQuotaRouter({
    otherPaths: 'respond',
    headers,
    trustProxy,
    identityUrl: identity.uri,
    onError: options.onError,
    ...routerOptions,
    identity: (req) =>
      callerOf(req).catch((error) => {
        throw toIdentityError(error);
      }),
  });
  return (req, res, next) => {
    if (!QUOTA_PATH.test(req.url ?? '')) return next();
    responses.set(req, res);
    serveQuotas(req, res).catch(next);
  };
}
