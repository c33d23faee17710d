import type { MetricObjectWithValues, MetricValue } from 'prom-client';

/** The metrics of one process, as `prom-client` exchanges them between processes. */
export type Figures = readonly MetricObjectWithValues<MetricValue<string>>[];

/** The content type of metrics. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The address of a worker. */
export interface Serving {
  readonly url: string;
  readonly database: string;
}

/** Messages of workers to the primary process. */
export type FromWorker =
  | ({ readonly kind: 'serving' } & Serving)
  /** A response; without `id`, the last metrics before the end. */
  | { readonly kind: 'figures'; readonly id?: number; readonly figures: Figures }
  /** A scrape of this worker, which needs the metrics of all workers. */
  | { readonly kind: 'requestMetrics'; readonly id: number };

/** Messages of the primary process to workers. */
export type ToWorker =
  /** Serve for the drain time, fail readiness, exit. */
  | { readonly kind: 'end' }
  /** Another worker has replaced this one: accept no new connections, serve open ones, exit. */
  | { readonly kind: 'retire' }
  /** Reload options that can change at run time. */
  | { readonly kind: 'reload' }
  | { readonly kind: 'requestFigures'; readonly id: number }
  /** A response; without a text, the metrics are unavailable. */
  | { readonly kind: 'metrics'; readonly id: number; readonly text?: string };
