import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Backend } from './backends/backend.js';
import { backendRegistry } from './backends/backend-registry.js';
import { watchServer } from './detailed/server-report.js';
import { createEndpoint, type Endpoint, type HealthChange, type HealthStatus } from './endpoint.js';
import { HealthcheckConfigError, HealthcheckUnavailable } from './errors.js';
import type { ResponseExtras } from './extras.js';
import { failingReasons } from './formats/json-formats.js';
import { metricsText } from './formats/metrics.js';
import { healthResponse, sendBody } from './health-response.js';
import { didYouMean } from './known-names.js';
import type { HealthcheckOptions } from './options.js';
import { isProxied } from './proxied.js';
import { isMounted, requestPath } from './request-path.js';
import { type Settings, settingsFrom } from './settings.js';

/** Middleware for Express 4 and 5, and a listener for bare `node:http` that responds to other requests with 404. */
export interface Healthcheck {
  (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void): void;
  /**
   * Evaluates an endpoint as if a probe had arrived.
   *
   * @param group default: the main endpoint
   * @throws HealthcheckConfigError for an unknown group
   */
  status(group?: string): Promise<HealthStatus>;
  /**
   * Marks the main endpoint and all groups with `failsOnShutdown` as permanently unavailable. Other requests are still
   * served.
   */
  shutdown(): void;
  /** Marks the service as ready, so that the checks determine the state of all endpoints again. */
  markReady(): void;
  /**
   * Marks the main endpoint and all groups with `failsOnShutdown` as unavailable until `markReady()` is called. Default
   * reason: `NOT READY`.
   */
  markNotReady(reason?: string): void;
  /** Resolves when the service has been marked as ready for the first time; immediately unless `startsReady` is false. */
  whenFirstReady(): Promise<void>;
  /** Returns the health of all endpoints and checks in the Prometheus text format. */
  metrics(): Promise<string>;
  /**
   * Stops background checks, async hooks and performance observers. Probes still receive responses, but without the
   * details that depend on these.
   */
  close(): void;
  /**
   * Subscribes to `change`, which is emitted when an evaluation of an endpoint results in a different state than the
   * previous one.
   */
  on(event: 'change', listener: (change: HealthChange) => void): void;
  off(event: 'change', listener: (change: HealthChange) => void): void;
}

/**
 * Creates a health endpoint. In Express, `app.use(healthcheck({ backends: [...] }))` responds to `/healthcheck` and passes other
 * requests on; `app.use('/status', healthcheck({ backends: [...] }))` responds to all requests below `/status`.
 *
 * @example
 * ```ts
 * import { healthcheck } from '@apistrata/healthcheck';
 * import express from 'express';
 *
 * express().use(healthcheck({ backends: ['disable_by_file'], disableByFilePath: '/run/my-service/drain' }));
 * ```
 */
export function healthcheck(options: Readonly<HealthcheckOptions> = {}): Healthcheck {
  const settings = settingsFrom(options);
  const events = new EventEmitter<{ change: [HealthChange] }>();
  // An error in a listener must not affect the probe that detected the change.
  const emitChange = (change: HealthChange) => {
    try {
      events.emit('change', change);
    } catch (error) {
      settings.log.error(`healthcheck: a listener of "change" threw: ${error}`);
    }
  };
  const registry = backendRegistry(settings, () => {
    for (const endpoint of byName.values()) void endpoint.evaluate({ port: undefined });
  });
  const { byName, byPath, main } = createEndpoints(settings, registry.resolve, emitChange);
  const serverWatch = settings.detailed ? watchServer(settings.trackedResources) : undefined;
  const collectReport = serverWatch ? () => serverWatch.report() : undefined;
  const { service, format, links } = settings;
  const extras: ResponseExtras = { named: settings.names ? service : undefined, format, links };

  let resolveFirstReady: () => void = () => undefined;
  const firstReadyPromise = new Promise<void>((resolve) => {
    resolveFirstReady = resolve;
  });
  if (settings.startsReady) resolveFirstReady();
  else for (const endpoint of byName.values()) endpoint.setNotReadyReason('NOT READY');

  function endpointFor(req: IncomingMessage): Endpoint | undefined {
    const found = byPath.get(requestPath(req));
    if (found || settings.anyPathMode === 'never') return found;
    return settings.anyPathMode === 'always' || isMounted(req) ? main : undefined;
  }

  function isRequestAllowed(req: IncomingMessage): boolean {
    const { isAllowedSource, ignoreProxiedRequests } = settings;
    if (isAllowedSource && !isAllowedSource(req.socket.remoteAddress)) return false;
    return !(ignoreProxiedRequests && isProxied(req));
  }

  function healthcheckMiddleware(req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void): void {
    const found = endpointFor(req);
    if (!found || !isRequestAllowed(req)) {
      if (next) next();
      else sendNotFound(res);
      return;
    }
    const passError = (error: unknown) => (next ? next(error) : res.destroy(error as Error));
    const sendStatus = (status: HealthStatus) => {
      if (!status.available && settings.renderError) {
        const error = new HealthcheckUnavailable(found.name, failingReasons(status.results));
        const errorBody = settings.renderError(error, req);
        // Without an error handler, the documented response is sent.
        if (errorBody) return sendBody(res, error.status, errorBody.contentType, errorBody.body);
        if (next) return next(error);
      }
      return healthResponse(req, res, status, extras, collectReport);
    };
    const respond = () => {
      const status = found.evaluate({ port: req.socket.localPort });
      Promise.resolve(status).then(sendStatus).catch(passError);
    };
    if (serverWatch) serverWatch.duringProbe(res, respond);
    else respond();
  }

  return Object.assign(healthcheckMiddleware, {
    async status(group?: string): Promise<HealthStatus> {
      if (group === undefined) return main.evaluate({ port: undefined });
      const endpoint = byName.get(group);
      if (!endpoint)
        throw new HealthcheckConfigError('groups', `unknown group "${group}"`, didYouMean(group, [...byName.keys()]));
      return endpoint.evaluate({ port: undefined });
    },
    shutdown() {
      for (const endpoint of byName.values()) endpoint.shutdown();
    },
    markReady() {
      for (const endpoint of byName.values()) endpoint.setNotReadyReason(undefined);
      resolveFirstReady();
    },
    markNotReady(reason = 'NOT READY') {
      for (const endpoint of byName.values()) endpoint.setNotReadyReason(reason);
    },
    whenFirstReady: () => firstReadyPromise,
    async metrics() {
      const statuses = [...byName].map(
        async ([name, endpoint]) => [name, await endpoint.evaluate({ port: undefined })] as const,
      );
      return metricsText(new Map(await Promise.all(statuses)));
    },
    close() {
      registry.close();
      serverWatch?.stop();
    },
    on: (event: 'change', listener: (change: HealthChange) => void) => void events.on(event, listener),
    off: (event: 'change', listener: (change: HealthChange) => void) => void events.off(event, listener),
  });
}

interface Endpoints {
  readonly main: Endpoint;
  readonly byName: ReadonlyMap<string, Endpoint>;
  readonly byPath: ReadonlyMap<string, Endpoint>;
}

function createEndpoints(
  { endpoints: endpointList }: Settings,
  resolve: (backends: Settings['endpoints'][0]['backends'], option: string) => readonly Backend[],
  onChange: (change: HealthChange) => void,
): Endpoints {
  const byName = new Map<string, Endpoint>();
  const byPath = new Map<string, Endpoint>();
  for (const endpointSettings of endpointList) {
    const { name, path, backends, option } = endpointSettings;
    const endpoint = createEndpoint(endpointSettings, resolve(backends, option), onChange);
    byName.set(name, endpoint);
    if (path === undefined) continue;
    if (byPath.has(path)) {
      throw new HealthcheckConfigError(
        option.replace(/backends$/, 'path'),
        `${path} is the path of another endpoint`,
        'Give each endpoint a unique path',
      );
    }
    byPath.set(path, endpoint);
  }
  return { main: byName.get('healthcheck') as Endpoint, byName, byPath };
}

function sendNotFound(res: ServerResponse): void {
  res.writeHead(404, { 'Content-Length': 0 });
  res.end();
}
