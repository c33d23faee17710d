import type { OpenTelemetryTraces } from '@apistrata/compute-router/opentelemetry';
import type { MetricsHandler, MetricsSource, PrometheusMetrics } from '@apistrata/compute-router/prometheus';
import type { Options } from './options.js';

/** The observers of the program; undefined for those that are not enabled. */
export interface Observation {
  readonly metrics: PrometheusMetrics | undefined;
  /** The handler of scrapes. */
  readonly scraped: MetricsHandler | undefined;
  readonly traces: OpenTelemetryTraces | undefined;
}

/** Returns whether metrics are enabled, on the port of the API or on a separate one. */
export function areMetricsRequested({ metrics, 'metrics-port': port }: Options): boolean {
  return metrics || port !== undefined;
}

/**
 * Creates the enabled observers; packages of disabled ones are not loaded.
 * @param served source of the served metrics; default: those of this process
 */
export async function observationFrom(options: Options, served?: MetricsSource): Promise<Observation> {
  const prometheus = areMetricsRequested(options) ? await import('@apistrata/compute-router/prometheus') : undefined;
  const telemetry = options.traces ? await import('@apistrata/compute-router/opentelemetry') : undefined;
  const metrics = prometheus?.prometheusMetrics();
  const scraped = served ? prometheus?.metricsHandler(served) : metrics?.handler;
  return { metrics, scraped, traces: telemetry?.openTelemetry() };
}

/** Returns the observers. Traces are first, so that their context is active when metrics are recorded. */
export function observersOf({ metrics, traces }: Pick<Observation, 'metrics' | 'traces'>) {
  const all = [traces, metrics].filter((observers) => observers !== undefined);
  return { engine: all.map(({ engine }) => engine), api: all.map(({ api }) => api) };
}
