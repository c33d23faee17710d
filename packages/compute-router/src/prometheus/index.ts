import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from '@apistrata/compute-engine';
import type { EngineObserver } from '@apistrata/compute-engine/observation';
import type { ServerStatistics } from '@apistrata/healthcheck/server';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { ApiObserver } from '../http/api-observer.js';
import type { IdentityLookup } from '../identity/index.js';
import { apiMetrics, identityMetrics, quotaMetrics, type RefusedQuota } from './api-metrics.js';
import { connectionMetrics } from './connection-metrics.js';
import { engineGauges, engineMetrics } from './engine-metrics.js';

export type { RefusedQuota };

/** Where metrics are kept. */
export interface PrometheusOptions {
  /** Where the metrics are kept; default: a registry of its own, with the figures of the process and of Node. */
  readonly register?: Registry;
}

/** What is asked at each scrape. */
export interface Scraped {
  readonly engine?: Engine;
  /** `guardServer(...)`, or anything else with statistics of connections. */
  readonly server?: { statistics(): ServerStatistics };
}

/** Whatever has metrics as text: a `Registry`, or what adds up those of several processes. */
export interface MetricsSource {
  /** The `Content-Type` of the text. */
  readonly contentType: string;
  metrics(): Promise<string>;
}

/** A request listener that answers with metrics. */
export type MetricsHandler = (req: IncomingMessage, res: ServerResponse) => void;

/** Metrics of one engine and one API, in the text format of Prometheus. */
export interface PrometheusMetrics {
  readonly register: Registry;
  /** For `createEngine({ observer })`. */
  readonly engine: EngineObserver;
  /** For `computeApi({ observer })` and `computeRouter({ observer })`. */
  readonly api: ApiObserver;
  /** For `identityService({ onLookup })`. */
  readonly identity: (identityLookup: IdentityLookup) => void;
  /** For `enforceQuota({ onExceeded })` of `@apistrata/quota`. */
  readonly quota: (refusal: RefusedQuota) => void;
  /** Asks these too, at each scrape. Once for each. */
  readonly scrape: (sources: Scraped) => void;
  /** Answers `GET` and `HEAD` with all metrics, and anything else with 405. Mount it where only monitoring comes. */
  readonly handler: MetricsHandler;
}

/** The registry that programs have who ask for none. */
function ownRegistry(): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register;
}

async function answer(source: MetricsSource, req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    res.writeHead(405, { Allow: 'GET, HEAD', 'Content-Length': 0 }).end();
    return;
  }
  const text = await source.metrics();
  res.writeHead(200, { 'Content-Type': source.contentType, 'Content-Length': Buffer.byteLength(text) }).end(text);
}

/** Answers `GET` and `HEAD` with the metrics of a source, 500 where it fails, and anything else with 405. */
export function metricsHandler(source: MetricsSource): MetricsHandler {
  return (req, res) => {
    answer(source, req, res).catch(() => {
      if (res.headersSent) res.destroy();
      else res.writeHead(500, { 'Content-Length': 0 }).end();
    });
  };
}

/**
 * Metrics through `prom-client`, which is to be installed beside this package. No label has ids: operations, versions,
 * statuses, names of statements and kinds are all there are.
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
export function prometheusMetrics({ register = ownRegistry() }: PrometheusOptions = {}): PrometheusMetrics {
  return {
    register,
    engine: engineMetrics(register),
    api: apiMetrics(register),
    identity: identityMetrics(register),
    quota: quotaMetrics(register),
    scrape({ engine, server }) {
      if (engine) engineGauges(register, engine);
      if (server) connectionMetrics(register, () => server.statistics());
    },
    handler: metricsHandler(register),
  };
}
