import type { MetricObjectWithValues, MetricValue } from 'prom-client';

/** The metrics of one process as `prom-client` hands them from one to another. */
export type Figures = readonly MetricObjectWithValues<MetricValue<string>>[];

/** What the text of metrics is. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Where a worker serves. */
export interface Serving {
  readonly url: string;
  readonly database: string;
}

/** What workers tell the process that keeps them. */
export type FromWorker =
  | ({ readonly kind: 'serving' } & Serving)
  /** An answer; without `id` they are the last ones before the end. */
  | { readonly kind: 'figures'; readonly id?: number; readonly figures: Figures }
  /** Somebody asks this worker for the metrics of all. */
  | { readonly kind: 'metrics?'; readonly id: number };

/** What they are told. */
export type ToWorker =
  /** Serve for the drain time, fail readiness, end. */
  | { readonly kind: 'end' }
  /** Another one has taken the place: accept nothing new, answer what comes on connections that are open, end. */
  | { readonly kind: 'retire' }
  /** Read again what can be changed in a running process. */
  | { readonly kind: 'reload' }
  | { readonly kind: 'figures?'; readonly id: number }
  /** An answer; without a text there is none. */
  | { readonly kind: 'metrics'; readonly id: number; readonly text?: string };
