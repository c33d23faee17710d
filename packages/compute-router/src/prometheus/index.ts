import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from '@apistrata/compute-engine';
import type { Host, HostStatistics } from '@apistrata/compute-engine/hosts';
import type { EngineObserver } from '@apistrata/compute-engine/observation';
import type { ServerStatistics } from '@apistrata/healthcheck/server';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { ApiObserver } from '../http/api-observer.js';
import type { IdentityLookup } from '../identity/index.js';
import { apiMetrics, identityMetrics, quotaMetrics, type RejectedQuota } from './api-metrics.js';
import { connectionMetrics } from './connection-metrics.js';
import { type DatabaseObserver, databaseMetrics } from './database-metrics.js';
import { engineGauges, engineMetrics } from './engine-metrics.js';
import { guestMetrics } from './guest-metrics.js';
import { hostMetrics } from './host-metrics.js';

export type { RejectedQuota };

/** Options of `prometheusMetrics()`. */
export interface PrometheusOptions {
  /** The registry of the metrics. Default: a new registry with the default metrics of the process and Node.js. */
  readonly register?: Registry;
}

/** Sources that are read at each scrape. */
export interface ScrapeSources {
  readonly engine?: Engine;
  /** `guardServer(...)`, or any other object with statistics of connections. */
  readonly server?: { statistics(): ServerStatistics };
}

/** A source of metrics in text format: a `Registry`, or an aggregator of several processes. */
export interface MetricsSource {
  /** The `Content-Type` of the text. */
  readonly contentType: string;
  metrics(): Promise<string>;
}

/** A request listener that serves metrics. */
export type MetricsHandler = (req: IncomingMessage, res: ServerResponse) => void;

/** Metrics of one engine and one API, in the Prometheus text format. */
export interface PrometheusMetrics {
  readonly register: Registry;
  /** Observer for `createEngine({ observer })`. */
  readonly engine: EngineObserver;
  /** Observer for `computeApi({ observer })` and `computeRouter({ observer })`. */
  readonly api: ApiObserver;
  /** Callback for `identityService({ onLookup })`. */
  readonly identity: (identityLookup: IdentityLookup) => void;
  /** Callback for `enforceQuota({ onExceeded })` from `@apistrata/quota`. */
  readonly quota: (rejection: RejectedQuota) => void;
  /** Adds sources that are read at each scrape. Call it once for each source. */
  readonly scrape: (sources: ScrapeSources) => void;
  /**
   * Serves all metrics for `GET` and `HEAD`, and returns 405 for other methods. Mount it where only monitoring has
   * access.
   */
  readonly handler: MetricsHandler;
}

/** Creates the default registry. */
function defaultRegistry(): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register;
}

async function sendMetrics(source: MetricsSource, req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    res.writeHead(405, { Allow: 'GET, HEAD', 'Content-Length': 0 }).end();
    return;
  }
  const text = await source.metrics();
  res.writeHead(200, { 'Content-Type': source.contentType, 'Content-Length': Buffer.byteLength(text) }).end(text);
}

/**
 * Creates a handler that serves the metrics of a source for `GET` and `HEAD`. It returns 500 if the source fails, and
 * 405 for other methods.
 */
export function metricsHandler(source: MetricsSource): MetricsHandler {
  return (req, res) => {
    sendMetrics(source, req, res).catch(() => {
      if (res.headersSent) res.destroy();
      else res.writeHead(500, { 'Content-Length': 0 }).end();
    });
  };
}

function machineMetrics(register: Registry, statistics: HostStatistics): void {
  guestMetrics(register, statistics);
  hostMetrics(register, statistics);
}

/** Metrics of a host process, in the Prometheus text format. */
export interface PrometheusHostMetrics extends Pick<PrometheusMetrics, 'register' | 'handler'> {
  /** Observer for `createHost({ observer })`. */
  readonly database: DatabaseObserver;
  /** Adds the figures of the host and its guests, which are read at each scrape. Call it once. */
  readonly scrape: (host: Pick<Host, 'statistics'>) => void;
}

/**
 * Creates the metrics of a host process (`createHost`): of the host, its guests, its database connections and the process.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { SimulatedDriver } from '@apistrata/compute-engine/drivers';
 * import { createHost } from '@apistrata/compute-engine/hosts';
 * import { prometheusHostMetrics } from '@apistrata/compute-router/prometheus';
 *
 * const metrics = prometheusHostMetrics();
 * const host = await createHost({
 *   observer: metrics.database,
 *   database: 'postgres://cloud@db.example.org/cloud',
 *   secretKeyFile: '/etc/cloud/secret.key',
 *   name: 'h2',
 *   driver: (clock) => new SimulatedDriver({ clock }),
 * });
 * metrics.scrape(host);
 * createServer(metrics.handler).listen(9465, '127.0.0.1');
 * ```
 */
export function prometheusHostMetrics({ register = defaultRegistry() }: PrometheusOptions = {}): PrometheusHostMetrics {
  return {
    register,
    database: databaseMetrics(register),
    scrape: ({ statistics }) => machineMetrics(register, statistics),
    handler: metricsHandler(register),
  };
}

/**
 * Creates metrics with `prom-client`, an optional peer dependency. Labels never contain ids of users or requests: their
 * values are operations, versions, statuses, names of statements and kinds. Only the guest metrics contain the id of
 * a server and its project, while the server runs in this process.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createEngine } from '@apistrata/compute-engine';
 * import { computeApi, noauth } from '@apistrata/compute-router';
 * import { prometheusMetrics } from '@apistrata/compute-router/prometheus';
 *
 * const metrics = prometheusMetrics();
 * const engine = await createEngine({ observer: metrics.engine });
 * const api = computeApi({ engine, identity: noauth(), observer: metrics.api });
 * metrics.scrape({ engine });
 * createServer(metrics.handler).listen(9090, '127.0.0.1');
 * ```
 */
export function prometheusMetrics({ register = defaultRegistry() }: PrometheusOptions = {}): PrometheusMetrics {
  return {
    register,
    engine: engineMetrics(register),
    api: apiMetrics(register),
    identity: identityMetrics(register),
    quota: quotaMetrics(register),
    scrape({ engine, server }) {
      if (engine) {
        engineGauges(register, engine);
        machineMetrics(register, engine.statistics);
      }
      if (server) connectionMetrics(register, () => server.statistics());
    },
    handler: metricsHandler(register),
  };
}
