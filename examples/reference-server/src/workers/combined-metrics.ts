import type { MetricsSource } from '@apistrata/compute-router/prometheus';
import { METRICS_CONTENT_TYPE } from './messages.js';

/** The metrics of all workers, which this worker requests from the primary process. */
export class CombinedMetrics implements MetricsSource {
  readonly contentType = METRICS_CONTENT_TYPE;
  readonly #requestAllMetrics: (id: number) => void;
  readonly #pending = new Map<number, (text: string | undefined) => void>();
  #lastId = 0;

  constructor(request: (id: number) => void) {
    this.#requestAllMetrics = request;
  }

  async metrics(): Promise<string> {
    const id = ++this.#lastId;
    const text = await new Promise<string | undefined>((resolve) => {
      this.#pending.set(id, resolve);
      this.#requestAllMetrics(id);
    });
    if (text === undefined) throw new Error('the metrics of all workers are unavailable');
    return text;
  }

  handleResponse(id: number, text: string | undefined): void {
    this.#pending.get(id)?.(text);
    this.#pending.delete(id);
  }
}
