import type { Worker } from 'node:cluster';
import type { MetricsSource } from '@apistrata/compute-router/prometheus';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { type Figures, METRICS_TYPE } from './messages.js';
import { type Member, tell } from './worker-group.js';

/** A worker that does not answer within this time fails the scrape, rather than being missing in its sums. */
const ANSWER_MS = 5_000;

/** What a process leaves behind: what it counted goes on counting, and sums never fall. */
const LASTING = new Set(['counter', 'histogram']);

interface Question {
  readonly answered: (figures: Figures | undefined) => void;
  readonly worker: Worker;
}

function summed(all: readonly Figures[]): Registry {
  return AggregatorRegistry.aggregate([...all]);
}

/** The metrics of all workers as one: sums, but for what is the same in all of them or an average by its nature. */
export class GroupMetrics implements MetricsSource {
  readonly contentType = METRICS_TYPE;
  readonly #members: () => readonly Member[];
  readonly #questions = new Map<number, Question>();
  /** The last that was heard of each worker. */
  readonly #latest = new Map<Worker, Figures>();
  #past: Figures = [];
  #lastId = 0;

  constructor(members: () => readonly Member[]) {
    this.#members = members;
  }

  /** The text for Prometheus. Rejects when a worker that lives does not answer. */
  async metrics(): Promise<string> {
    const found = await Promise.all(this.#members().map((member) => this.#ask(member)));
    const living = found.filter((figures) => figures !== undefined);
    return summed([...living, this.#past]).metrics();
  }

  /** Takes what a worker answered, or said at its end. */
  heard(worker: Worker, id: number | undefined, figures: Figures): void {
    this.#latest.set(worker, figures);
    if (id !== undefined) this.#settle(id, figures);
  }

  /** A worker is gone: what was last heard of it stays in the sums. */
  ended(worker: Worker): void {
    for (const [id, question] of this.#questions) if (question.worker === worker) this.#settle(id, undefined);
    const last = this.#latest.get(worker);
    this.#latest.delete(worker);
    if (!last) return;
    const lasting = last.filter(({ type }) => LASTING.has(String(type)));
    // What it holds is what it was made of: figures again.
    this.#past = summed([this.#past, lasting]).getMetricsAsArray() as unknown as Figures;
  }

  #settle(id: number, figures: Figures | undefined): void {
    this.#questions.get(id)?.answered(figures);
    this.#questions.delete(id);
  }

  #ask(member: Member): Promise<Figures | undefined> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#questions.delete(id);
        reject(new Error(`worker ${member.worker.process.pid} does not tell its metrics`));
      }, ANSWER_MS);
      const answered = (figures: Figures | undefined) => {
        clearTimeout(timer);
        resolve(figures);
      };
      this.#questions.set(id, { worker: member.worker, answered });
      tell(member, { kind: 'figures?', id });
    });
  }
}
