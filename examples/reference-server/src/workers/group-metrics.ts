import type { Worker } from 'node:cluster';
import type { MetricsSource } from '@apistrata/compute-router/prometheus';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { type Figures, METRICS_CONTENT_TYPE } from './messages.js';
import { type GroupMember, sendToWorker } from './worker-group.js';

/** If a worker does not respond within this time, the scrape fails, because sums without the worker would be wrong. */
const RESPONSE_TIMEOUT_MS = 5_000;

/**
 * The cumulative metric types. Their last values remain in the sums after a worker has exited, so that sums never
 * decrease.
 */
const CUMULATIVE_METRIC_TYPES = new Set(['counter', 'histogram']);

interface MetricsRequest {
  readonly responded: (figures: Figures | undefined) => void;
  readonly worker: Worker;
}

function sumFigures(all: readonly Figures[]): Registry {
  return AggregatorRegistry.aggregate([...all]);
}

/** Aggregates the metrics of all workers. Most values are summed; others are averaged, or are equal in all workers. */
export class GroupMetrics implements MetricsSource {
  readonly contentType = METRICS_CONTENT_TYPE;
  readonly #members: () => readonly GroupMember[];
  readonly #requests = new Map<number, MetricsRequest>();
  /** The last metrics of each worker. */
  readonly #latest = new Map<Worker, Figures>();
  #past: Figures = [];
  #lastId = 0;

  constructor(members: () => readonly GroupMember[]) {
    this.#members = members;
  }

  /** Returns the aggregated metrics in the Prometheus text format. Rejects if a running worker does not respond. */
  async metrics(): Promise<string> {
    const responses = await Promise.all(this.#members().map((member) => this.#requestFigures(member)));
    const currentFigures = responses.filter((figures) => figures !== undefined);
    return sumFigures([...currentFigures, this.#past]).metrics();
  }

  /** Stores the metrics that a worker has returned, or sent before it exited. */
  storeFigures(worker: Worker, id: number | undefined, figures: Figures): void {
    this.#latest.set(worker, figures);
    if (id !== undefined) this.#complete(id, figures);
  }

  /** Adds the last metrics of a worker that has exited to all later sums. */
  handleWorkerExit(worker: Worker): void {
    for (const [id, request] of this.#requests) if (request.worker === worker) this.#complete(id, undefined);
    const lastFigures = this.#latest.get(worker);
    this.#latest.delete(worker);
    if (!lastFigures) return;
    const cumulativeMetrics = lastFigures.filter(({ type }) => CUMULATIVE_METRIC_TYPES.has(String(type)));
    // prom-client types the result differently, although it has the structure of the input.
    this.#past = sumFigures([this.#past, cumulativeMetrics]).getMetricsAsArray() as unknown as Figures;
  }

  #complete(id: number, figures: Figures | undefined): void {
    this.#requests.get(id)?.responded(figures);
    this.#requests.delete(id);
  }

  #requestFigures(member: GroupMember): Promise<Figures | undefined> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#requests.delete(id);
        reject(new Error(`worker ${member.worker.process.pid} did not return its metrics in time`));
      }, RESPONSE_TIMEOUT_MS);
      const onResponse = (figures: Figures | undefined) => {
        clearTimeout(timer);
        resolve(figures);
      };
      this.#requests.set(id, { worker: member.worker, responded: onResponse });
      sendToWorker(member, { kind: 'requestFigures', id });
    });
  }
}
