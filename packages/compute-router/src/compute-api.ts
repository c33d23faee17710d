import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { type Healthcheck, type HealthcheckOptions, healthcheck } from '@apistrata/healthcheck';
import type { ProjectQuotas } from '@apistrata/quota';
import {
  IdentityError,
  type IdentityOf,
  type ProjectQuotaRouterOptions,
  projectQuotaRouter,
} from '@apistrata/quota/router';
import { requestId } from '@apistrata/request-id';
import type { Logger } from 'pino';
import { type ComputeRouterOptions, computeHandler, isVersionList } from './compute-router.js';
import { apiObservedBy } from './http/api-observer.js';
import { crossOrigin } from './http/cross-origin.js';
import { eventStream } from './http/event-stream.js';
import { hidingSecrets, REDACTED } from './http/log-secrets.js';
import type { Middleware, Next } from './http/middleware.js';
import { observedAside } from './http/observed-aside.js';
import { REQUEST_ID_HEADERS } from './http/request-id-headers.js';
import { normalizeTarget } from './http/request-target.js';
import { type Identity, IdentityUnavailable } from './identity/index.js';
import { policies } from './policy/index.js';

/** What `computeApi()` can be told; the engine and the identity must be given. */
export interface ComputeApiOptions extends ComputeRouterOptions {
  /** Options of the health endpoint at `/healthcheck`, or one that is made already; false for none. Default: no checks. */
  readonly healthcheck?: HealthcheckOptions | Healthcheck | false;
  /** Project quotas, served below `/v1`; callers are those of the compute API. Default: none. */
  readonly quota?: ProjectQuotas | Omit<ProjectQuotaRouterOptions, 'identity'>;
  /** Where requests are logged; default: nowhere. Tokens, passwords and bodies never get there. */
  readonly logger?: Logger;
}

/** The whole API, and its parts that a program holds on to. */
export interface ComputeApi {
  (req: IncomingMessage, res: ServerResponse, next?: Next): void;
  readonly health: Healthcheck | undefined;
  /** The OpenAPI document of a version. */
  readonly openApi: (version: string, serverUrl?: string) => Record<string, unknown>;
  /** The same as JSON text, which is kept. */
  readonly openApiText: (version: string, serverUrl?: string) => string;
}

function requestLog(logger: Logger): Middleware {
  // Loaded for those who log.
  const { pinoHttp }: typeof import('pino-http') = createRequire(import.meta.url)('pino-http');
  return pinoHttp({
    logger,
    genReqId: requestId({ preset: 'openstack' }).genReqId,
    redact: { paths: REDACTED, censor: '[redacted]' },
    serializers: { req: (req) => ({ ...req, url: hidingSecrets(req.url) }) },
    customLogLevel: (req, res, error) => {
      // Clients may leave whenever they like: nothing failed here.
      if (!res.writableFinished && req.socket.destroyed) return 'info';
      return error || res.statusCode >= 500 ? 'error' : res.statusCode >= 400 ? 'warn' : 'info';
    },
  });
}

/** Runs middlewares one after the other; whoever does not answer hands on. */
function chain(steps: readonly Middleware[]): Middleware {
  return function runSteps(req, res, next) {
    let position = 0;
    const go: Next = (error) => {
      const step = error === undefined ? steps[position++] : undefined;
      if (step) step(req, res, go);
      else next(error);
    };
    go();
  };
}

/** The callers of the compute API, as the project quotas want them told. */
function quotaIdentity(identity: Identity): IdentityOf {
  return async function quotaCaller(req) {
    try {
      return await identity(req);
    } catch (error) {
      if (!(error instanceof IdentityUnavailable)) throw error;
      throw new IdentityError(503, error.message, { 'Retry-After': '5' });
    }
  };
}

const EVENTS_PATH = /^\/events(?:\?|$)/;

/** What happens, as a stream, where the engine keeps it. */
function eventStep({ engine, identity, onError, policies: rules = policies() }: ComputeApiOptions): Middleware {
  const answer = eventStream({ engine, identity, onError, policies: rules });
  return (req, res, next) => {
    if (EVENTS_PATH.test(req.url ?? '')) answer(req, res);
    else next();
  };
}

const QUOTA_PATH = /^(?:https?:\/\/[^/?#]*)?\/+v1(?:[/?]|$)/i;

/** The project-quota API in front of the compute API, with the same callers and the same families of headers. */
function quotaStep(quota: NonNullable<ComputeApiOptions['quota']>, options: ComputeApiOptions): Middleware {
  const { identity, headers = 'both', trustProxy } = options;
  const settings = 'quota' in quota ? quota : { quota };
  const answer = projectQuotaRouter({
    otherPaths: 'answer',
    headers,
    trustProxy,
    identityUrl: identity.uri,
    onError: options.onError,
    ...settings,
    identity: quotaIdentity(identity),
  });
  return (req, res, next) => {
    if (QUOTA_PATH.test(req.url ?? '')) answer(req, res).catch(next);
    else next();
  };
}

/**
 * The full API in one call: request ids, log, health endpoint, project quotas, and the compute API behind them. Use it
 * in Express (`app.use(computeApi({ engine, identity }))`) or as the listener of a plain server.
 *
 * @example
 * ```ts
 * import { createEngine } from '@apistrata/compute-engine';
 * import { computeApi, noauth } from '@apistrata/compute-router';
 * import express from 'express';
 *
 * const engine = await createEngine({ database: ':memory:' });
 * express()
 *   .use(computeApi({ engine, identity: noauth() }))
 *   .listen(8774);
 * ```
 */
export function computeApi(options: ComputeApiOptions): ComputeApi {
  const { healthcheck: health, quota, logger, ...routerOptions } = options;
  const checked = health === false ? undefined : typeof health === 'function' ? health : healthcheck(health ?? {});
  const router = computeHandler({
    ...routerOptions,
    onError:
      routerOptions.onError ??
      ((error, req) => logger?.error({ err: error, url: hidingSecrets(req.url) }, 'a request failed')),
  });
  // Everything here is handed the id it needs; following it through every promise would cost each request.
  const requestIds = requestId({ preset: 'openstack', headers: REQUEST_ID_HEADERS, context: false });
  const steps: Middleware[] = [];
  steps.push((req, _res, next) => {
    normalizeTarget(req);
    next();
  });
  steps.push((req, res, next) => (isVersionList(req) ? next() : requestIds(req, res, next)));
  if (logger) steps.push(requestLog(logger));
  if (routerOptions.cors) steps.push(crossOrigin(routerOptions.cors));
  const observer = apiObservedBy(options.observer);
  if (checked) steps.push(observedAside('health', checked as Middleware, observer));
  if (quota) steps.push(observedAside('quotas', quotaStep(quota, options), observer));
  if (options.engine.events.kept) steps.push(eventStep(options));
  steps.push(router);
  const run = chain(steps);
  const api = (req: IncomingMessage, res: ServerResponse, next: Next = () => {}) => run(req, res, next);
  return Object.assign(api, { health: checked, openApi: router.openApi, openApiText: router.openApiText });
}
