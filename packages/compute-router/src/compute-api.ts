import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Healthcheck, type HealthcheckOptions, healthcheck } from '@apistrata/healthcheck';
import type { ProjectQuotas } from '@apistrata/quota';
import type { ProjectQuotaRouterOptions } from '@apistrata/quota/router';
import { requestId } from '@apistrata/request-id';
import type { Logger } from 'pino';
import { type ComputeRouterOptions, computeHandler, isVersionList } from './compute-router.js';
import { combineObservers } from './http/api-observer.js';
import { crossOrigin } from './http/cross-origin.js';
import { eventStream } from './http/event-stream.js';
import { redactSecrets } from './http/log-secrets.js';
import type { Middleware, Next } from './http/middleware.js';
import { observeUnrouted } from './http/observe-unrouted.js';
import { createQuotaStep } from './http/quota-step.js';
import { REQUEST_ID_HEADERS } from './http/request-id-headers.js';
import { requestLog } from './http/request-log.js';
import { normalizeTarget } from './http/request-target.js';
import { policies } from './policy/index.js';

/** Options for `computeApi()`. `engine` and `identity` are required. */
export interface ComputeApiOptions extends ComputeRouterOptions {
  /**
   * Options for the health endpoint at `/healthcheck`, or an endpoint that `healthcheck()` returned; `false` disables
   * the endpoint. Default: an endpoint without checks.
   */
  readonly healthcheck?: HealthcheckOptions | Healthcheck | false;
  /** Project quotas: an additional API at `/v1`, which authenticates callers like the compute API. Default: none. */
  readonly quota?: ProjectQuotas | Omit<ProjectQuotaRouterOptions, 'identity'>;
  /** pino logger that logs each request. Tokens, passwords and bodies are never logged. Default: none. */
  readonly logger?: Logger;
}

/** A request handler for the complete API. Its properties provide the health endpoint and the OpenAPI documents. */
export interface ComputeApi {
  (req: IncomingMessage, res: ServerResponse, next?: Next): void;
  readonly health: Healthcheck | undefined;
  /** Returns the OpenAPI document for a microversion. */
  readonly openApi: (version: string, serverUrl?: string) => Record<string, unknown>;
  /** Returns the OpenAPI document for a microversion as JSON text, which is cached. */
  readonly openApiText: (version: string, serverUrl?: string) => string;
}

/** Combines middlewares into one that runs them in order until one of them sends the response. */
function chainMiddlewares(steps: readonly Middleware[]): Middleware {
  return function runSteps(req, res, next) {
    let position = 0;
    const runNext: Next = (error) => {
      const step = error === undefined ? steps[position++] : undefined;
      if (step) step(req, res, runNext);
      else next(error);
    };
    runNext();
  };
}

const EVENTS_PATH = /^\/events(?:\?|$)/;

/** Creates the middleware that serves the event stream at `/events`. */
function createEventStep({ policies: rules = policies(), ...options }: ComputeRouterOptions): Middleware {
  const respond = eventStream({ ...options, policies: rules });
  return (req, res, next) => {
    if (EVENTS_PATH.test(req.url ?? '')) respond(req, res);
    else next();
  };
}

/**
 * Creates the complete API: request ids, request log, health endpoint, project quotas, event stream and compute API.
 * Use it in Express (`app.use(computeApi({ engine, identity }))`) or as the request listener of a `node:http` server.
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
  const healthEndpoint =
    health === false ? undefined : typeof health === 'function' ? health : healthcheck(health ?? {});
  const handlerOptions: ComputeRouterOptions = {
    ...routerOptions,
    onError:
      routerOptions.onError ??
      ((error, req) => logger?.error({ err: error, url: redactSecrets(req.url) }, 'a request failed')),
  };
  const router = computeHandler(handlerOptions);
  // The request id is stored on the request object, because an AsyncLocalStorage would slow down every request.
  const requestIds = requestId({ preset: 'openstack', headers: REQUEST_ID_HEADERS, context: false });
  const steps: Middleware[] = [];
  steps.push((req, _res, next) => {
    normalizeTarget(req);
    next();
  });
  steps.push((req, res, next) => (isVersionList(req) ? next() : requestIds(req, res, next)));
  if (logger) steps.push(requestLog(logger));
  if (routerOptions.cors) steps.push(crossOrigin(routerOptions.cors));
  const observer = combineObservers(options.observer);
  if (healthEndpoint) steps.push(observeUnrouted('health', healthEndpoint as Middleware, observer));
  if (quota) steps.push(observeUnrouted('quotas', createQuotaStep(quota, handlerOptions), observer));
  if (options.engine.events.isRetained) steps.push(createEventStep(handlerOptions));
  steps.push(router);
  const runAllSteps = chainMiddlewares(steps);
  const api = (req: IncomingMessage, res: ServerResponse, next: Next = () => {}) => runAllSteps(req, res, next);
  return Object.assign(api, { health: healthEndpoint, openApi: router.openApi, openApiText: router.openApiText });
}
