import type { MetricObjectWithValues, MetricValue } from 'prom-client';

/** The metrics of one process, as `prom-client` exchanges them between processes. */
export type ProcessMetrics = readonly MetricObjectWithValues<MetricValue<string>>[];

/** The content type of metrics in the Prometheus text format. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The URL that a worker serves, and its database. */
export interface WorkerAddress {
  readonly url: string;
  readonly database: string;
}

/** Messages from workers to the primary process. */
export type WorkerMessage =
  | ({ readonly kind: 'serving' } & WorkerAddress)
  /**
   * The worker's metrics. With `id`, they are the response to `requestWorkerMetrics`; without it, the last ones before
   * the exit.
   */
  | { readonly kind: 'workerMetrics'; readonly id?: number; readonly metrics: ProcessMetrics }
  /** Requests the metrics of all workers, because a client has scraped this worker. */
  | { readonly kind: 'requestAllMetrics'; readonly id: number };

/** Messages from the primary process to workers. */
export type PrimaryMessage =
  /** Fail the readiness check, serve requests for the drain time, then exit. */
  | { readonly kind: 'end' }
  /** Accept no new connections, serve open ones, then exit, because another worker has replaced this one. */
  | { readonly kind: 'retire' }
  /** Reload options that can change at run time. */
  | { readonly kind: 'reload' }
  | { readonly kind: 'requestWorkerMetrics'; readonly id: number }
  /** The response to `requestAllMetrics`. Without `text`, the metrics are unavailable. */
  | { readonly kind: 'metrics'; readonly id: number; readonly text?: string };
