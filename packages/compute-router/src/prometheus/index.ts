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
import { createEngineObserver, engineGauges } from './engine-metrics.js';
import { guestMetrics } from './guest-metrics.js';
import { hostMetrics } from './host-metrics.js';

export type { RejectedQuota };

/** Options for `prometheusMetrics()`. */
export interface PrometheusOptions {
  /**
   * The `prom-client` registry for the metrics. Default: a new registry, which also contains the default process and
   * Node.js metrics.
   */
  readonly register?: Registry;
}

/** Objects whose statistics are read at each scrape. */
export interface ScrapeSources {
  readonly engine?: Engine;
  /** The result of `guardServer(...)`, or another object with connection statistics. */
  readonly server?: { statistics(): ServerStatistics };
}

/**
 * A source of metrics in text format: a `Registry`, or an aggregator that combines the metrics of several processes.
 */
export interface MetricsSource {
  /** The `Content-Type` header for the metrics. */
  readonly contentType: string;
  metrics(): Promise<string>;
}

/** An HTTP request listener that serves metrics. */
export type MetricsHandler = (req: IncomingMessage, res: ServerResponse) => void;

/** Metrics for one engine and one API, in the Prometheus text format. */
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
  /** Adds objects whose statistics are read at each scrape. Pass each object only once. */
  readonly scrape: (sources: ScrapeSources) => void;
  /**
   * Request handler that responds to `GET` and `HEAD` with all metrics, and to other methods with 405. Mount it where
   * only the monitoring system has access.
   */
  readonly handler: MetricsHandler;
}

/** Creates a registry with the default process and Node.js metrics. */
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
 * Creates a request handler that responds to `GET` and `HEAD` with a source's metrics, and to other methods with 405.
 * If the source fails, the response is a 500.
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

/** Metrics for a host process, in the Prometheus text format. */
export interface PrometheusHostMetrics extends Pick<PrometheusMetrics, 'register' | 'handler'> {
  /** Observer for `createHost({ observer })`. */
  readonly database: DatabaseObserver;
  /** Adds the statistics of the host and its guests, which are read at each scrape. Call it once. */
  readonly scrape: (host: Pick<Host, 'statistics'>) => void;
}

/**
 * Creates metrics for a host process (`createHost`): for the host, its guests, its database connections and the process
 * itself.
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
 * Creates metrics with `prom-client`, an optional peer dependency. Labels never contain user or request ids; their
 * values are operations, versions, statuses, statement names and kinds. Only the guest metrics contain the ids of a
 * server and its project, while the server runs in this process.
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
    engine: createEngineObserver(register),
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
