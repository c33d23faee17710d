import { Counter, Gauge, type Registry } from 'prom-client';

/** A value of a metric, with the labels that it has in addition to the label of its source. */
export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** A metric that several sources have, such as guests. */
export interface SampledMetric<T> {
  readonly name: string;
  readonly help: string;
  /** Labels in addition to the label of the source. */
  readonly labels?: readonly string[];
  /** Whether the metric is a counter rather than a gauge. */
  readonly isCounter?: true;
  samples(source: T): readonly Sample[];
}

/** Returns the sample of a value without further labels, in base units. An unknown value has no sample. */
export function sampleOf(value: number | null | undefined, unit = 1): readonly Sample[] {
  return value === null || value === undefined ? [] : [[{}, value * unit]];
}

export interface SampledOptions<T> {
  readonly metrics: readonly SampledMetric<T>[];
  /** The label that identifies the source. */
  readonly label: string;
  /** Reads all sources with the values of their label. Called once for each metric of a scrape. */
  readonly read: () => Promise<readonly (readonly [label: string, source: T])[]>;
}

/** Adds metrics that are read at each scrape. The series of a source exist as long as `read` returns the source. */
export function sampledMetrics<T>(register: Registry, { metrics, label, read }: SampledOptions<T>): void {
  const registers = [register];
  for (const { name, help, labels = [], isCounter, samples } of metrics) {
    const labelNames = [label, ...labels];
    const configuration = { name, help, labelNames, registers, aggregator: 'max' } as const;
    const set = async (metric: { reset(): void }, add: (found: Record<string, string>, value: number) => void) => {
      const sources = await read();
      metric.reset();
      for (const [id, source] of sources)
        for (const [own, value] of samples(source)) add({ [label]: id, ...own }, value);
    };
    if (isCounter)
      new Counter({
        ...configuration,
        async collect() {
          await set(this, (found, value) => this.inc(found, value));
        },
      });
    else
      new Gauge({
        ...configuration,
        async collect() {
          await set(this, (found, value) => this.set(found, value));
        },
      });
  }
}
