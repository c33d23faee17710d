import type { MetricsSource } from '@apistrata/compute-router/prometheus';
import { METRICS_TYPE } from './messages.js';

/** Asks the process that keeps the workers for the metrics of all of them. */
export class MetricsOfAll implements MetricsSource {
  readonly contentType = METRICS_TYPE;
  readonly #ask: (id: number) => void;
  readonly #asked = new Map<number, (text: string | undefined) => void>();
  #lastId = 0;

  constructor(ask: (id: number) => void) {
    this.#ask = ask;
  }

  async metrics(): Promise<string> {
    const id = ++this.#lastId;
    const text = await new Promise<string | undefined>((resolve) => {
      this.#asked.set(id, resolve);
      this.#ask(id);
    });
    if (text === undefined) throw new Error('the metrics of all workers cannot be had');
    return text;
  }

  answered(id: number, text: string | undefined): void {
    this.#asked.get(id)?.(text);
    this.#asked.delete(id);
  }
}
