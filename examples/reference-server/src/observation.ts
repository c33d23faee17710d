import type { OpenTelemetryTraces } from '@apistrata/compute-router/opentelemetry';
import type { PrometheusMetrics } from '@apistrata/compute-router/prometheus';
import type { Options } from './options.js';

/** Who looks on while the program works; undefined for those nobody asked for. */
export interface Observation {
  readonly metrics: PrometheusMetrics | undefined;
  readonly traces: OpenTelemetryTraces | undefined;
}

/** Whether metrics are wanted: on the port of the API, or on one of their own. */
function wantsMetrics({ metrics, 'metrics-port': port }: Options): boolean {
  return metrics || port !== undefined;
}

/** What is not asked for is not even loaded. */
export async function observationFrom(options: Options): Promise<Observation> {
  const prometheus = wantsMetrics(options) ? await import('@apistrata/compute-router/prometheus') : undefined;
  const telemetry = options.traces ? await import('@apistrata/compute-router/opentelemetry') : undefined;
  return { metrics: prometheus?.prometheusMetrics(), traces: telemetry?.openTelemetry() };
}

/** Those who look on. Traces first: what they put around work is there when metrics are told of it. */
export function observersOf({ metrics, traces }: Observation) {
  const all = [traces, metrics].filter((observers) => observers !== undefined);
  return { engine: all.map(({ engine }) => engine), api: all.map(({ api }) => api) };
}
