import type { OpenTelemetryTraces } from '@apistrata/compute-router/opentelemetry';
import type { MetricsHandler, MetricsSource, PrometheusMetrics } from '@apistrata/compute-router/prometheus';
import type { Options } from './options.js';

/** Who looks on while the program works; undefined for those nobody asked for. */
export interface Observation {
  readonly metrics: PrometheusMetrics | undefined;
  /** Answers those who ask for metrics. */
  readonly scraped: MetricsHandler | undefined;
  readonly traces: OpenTelemetryTraces | undefined;
}

/** Whether metrics are wanted: on the port of the API, or on one of their own. */
export function wantsMetrics({ metrics, 'metrics-port': port }: Options): boolean {
  return metrics || port !== undefined;
}

/**
 * What is not asked for is not even loaded.
 * @param told whose metrics are told; default those of this process
 */
export async function observationFrom(options: Options, told?: MetricsSource): Promise<Observation> {
  const prometheus = wantsMetrics(options) ? await import('@apistrata/compute-router/prometheus') : undefined;
  const telemetry = options.traces ? await import('@apistrata/compute-router/opentelemetry') : undefined;
  const metrics = prometheus?.prometheusMetrics();
  const scraped = told ? prometheus?.metricsHandler(told) : metrics?.handler;
  return { metrics, scraped, traces: telemetry?.openTelemetry() };
}

/** Those who look on. Traces first: what they put around work is there when metrics are told of it. */
export function observersOf({ metrics, traces }: Pick<Observation, 'metrics' | 'traces'>) {
  const all = [traces, metrics].filter((observers) => observers !== undefined);
  return { engine: all.map(({ engine }) => engine), api: all.map(({ api }) => api) };
}
