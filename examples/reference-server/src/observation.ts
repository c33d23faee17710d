import type { OpenTelemetryTraces } from '@apistrata/compute-router/opentelemetry';
import type { MetricsHandler, MetricsSource, PrometheusMetrics } from '@apistrata/compute-router/prometheus';
import type { Options } from './options.js';

/** The metrics and traces of the program; undefined if they are not enabled. */
export interface Observation {
  readonly metrics: PrometheusMetrics | undefined;
  /** Handles requests for metrics. */
  readonly scrapeHandler: MetricsHandler | undefined;
  readonly traces: OpenTelemetryTraces | undefined;
}

/** Returns whether metrics are enabled, on the API's port or on a separate one. */
export function areMetricsRequested({ metrics, 'metrics-port': port }: Options): boolean {
  return metrics || port !== undefined;
}

/**
 * Creates the metrics and traces that the options enable. Only the packages that these require are loaded.
 * @param source the source of the metrics that are served; default: the metrics of this process
 */
export async function observationFrom(options: Options, source?: MetricsSource): Promise<Observation> {
  const prometheus = areMetricsRequested(options) ? await import('@apistrata/compute-router/prometheus') : undefined;
  const telemetry = options.traces ? await import('@apistrata/compute-router/opentelemetry') : undefined;
  const metrics = prometheus?.prometheusMetrics();
  const scrapeHandler = source ? prometheus?.metricsHandler(source) : metrics?.handler;
  return { metrics, scrapeHandler, traces: telemetry?.openTelemetry() };
}

/** Returns the observers. Traces come first, so that their context is active when metrics are recorded. */
export function observersOf({ metrics, traces }: Pick<Observation, 'metrics' | 'traces'>) {
  const enabledObservers = [traces, metrics].filter((observers) => observers !== undefined);
  return { engine: enabledObservers.map(({ engine }) => engine), api: enabledObservers.map(({ api }) => api) };
}
