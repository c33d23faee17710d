import type { Worker } from 'node:cluster';
import type { MetricsSource } from '@apistrata/compute-router/prometheus';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { METRICS_CONTENT_TYPE, type ProcessMetrics } from './messages.js';
import { type GroupMember, sendToWorker } from './worker-group.js';

/** If a worker does not respond within this time, the scrape fails, because sums without the worker would be wrong. */
const RESPONSE_TIMEOUT_MS = 5_000;

/**
 * The cumulative metric types. Their last values remain in the sums after a worker has exited, so that sums never
 * decrease.
 */
const CUMULATIVE_METRIC_TYPES = new Set(['counter', 'histogram']);

interface MetricsRequest {
  readonly responded: (metrics: ProcessMetrics | undefined) => void;
  readonly worker: Worker;
}

function sumMetrics(all: readonly ProcessMetrics[]): Registry {
  return AggregatorRegistry.aggregate([...all]);
}

/** Aggregates the metrics of all workers. Most values are summed; others are averaged, or are equal in all workers. */
export class GroupMetrics implements MetricsSource {
  readonly contentType = METRICS_CONTENT_TYPE;
  readonly #members: () => readonly GroupMember[];
  readonly #requests = new Map<number, MetricsRequest>();
  /** The last metrics of each worker. */
  readonly #latest = new Map<Worker, ProcessMetrics>();
  #exitedWorkerMetrics: ProcessMetrics = [];
  #lastId = 0;

  constructor(members: () => readonly GroupMember[]) {
    this.#members = members;
  }

  /** Returns the aggregated metrics in the Prometheus text format. Rejects if a running worker does not respond. */
  async metrics(): Promise<string> {
    const responses = await Promise.all(this.#members().map((member) => this.#requestWorkerMetrics(member)));
    const currentMetrics = responses.filter((metrics) => metrics !== undefined);
    return sumMetrics([...currentMetrics, this.#exitedWorkerMetrics]).metrics();
  }

  /** Stores the metrics that a worker has returned, or sent before it exited. */
  storeMetrics(worker: Worker, id: number | undefined, metrics: ProcessMetrics): void {
    this.#latest.set(worker, metrics);
    if (id !== undefined) this.#complete(id, metrics);
  }

  /** Adds the last metrics of a worker that has exited to all later sums. */
  handleWorkerExit(worker: Worker): void {
    for (const [id, request] of this.#requests) if (request.worker === worker) this.#complete(id, undefined);
    const lastMetrics = this.#latest.get(worker);
    this.#latest.delete(worker);
    if (!lastMetrics) return;
    const cumulativeMetrics = lastMetrics.filter(({ type }) => CUMULATIVE_METRIC_TYPES.has(String(type)));
    // prom-client types the result differently, although it has the structure of the input.
    this.#exitedWorkerMetrics = sumMetrics([
      this.#exitedWorkerMetrics,
      cumulativeMetrics,
    ]).getMetricsAsArray() as unknown as ProcessMetrics;
  }

  #complete(id: number, metrics: ProcessMetrics | undefined): void {
    this.#requests.get(id)?.responded(metrics);
    this.#requests.delete(id);
  }

  #requestWorkerMetrics(member: GroupMember): Promise<ProcessMetrics | undefined> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#requests.delete(id);
        reject(new Error(`worker ${member.worker.process.pid} did not return its metrics in time`));
      }, RESPONSE_TIMEOUT_MS);
      const onResponse = (metrics: ProcessMetrics | undefined) => {
        clearTimeout(timer);
        resolve(metrics);
      };
      this.#requests.set(id, { worker: member.worker, responded: onResponse });
      sendToWorker(member, { kind: 'requestWorkerMetrics', id });
    });
  }
}
