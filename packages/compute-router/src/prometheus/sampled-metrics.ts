import { Counter, Gauge, type Registry } from 'prom-client';

/** A metric value with its labels, except for the label that identifies the source. */
export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** A metric that has a value for each source, such as each guest. */
export interface SampledMetric<T> {
  readonly name: string;
  readonly help: string;
  /** Names of the labels in addition to the label that identifies the source. */
  readonly labels?: readonly string[];
  /** Whether the metric is a counter rather than a gauge. */
  readonly isCounter?: true;
  samples(source: T): readonly Sample[];
}

/**
 * Returns the sample for a value without additional labels, converted to base units. If the value is unknown, returns
 * an empty list.
 */
export function sampleOf(value: number | null | undefined, unit = 1): readonly Sample[] {
  return value === null || value === undefined ? [] : [[{}, value * unit]];
}

export interface SampledOptions<T> {
  readonly metrics: readonly SampledMetric<T>[];
  /** The name of the label that identifies the source. */
  readonly label: string;
  /** Returns all sources with their label values. Called once per scrape for each metric. */
  readonly read: () => Promise<readonly (readonly [label: string, source: T])[]>;
}

/** Adds metrics whose values are read at each scrape. A source has time series only while `read` returns it. */
export function sampledMetrics<T>(register: Registry, { metrics, label, read }: SampledOptions<T>): void {
  const registers = [register];
  for (const { name, help, labels = [], isCounter, samples } of metrics) {
    const labelNames = [label, ...labels];
    const configuration = { name, help, labelNames, registers, aggregator: 'max' } as const;
    const updateMetric = async (
      metric: { reset(): void },
      add: (allLabels: Record<string, string>, value: number) => void,
    ) => {
      const sources = await read();
      metric.reset();
      for (const [id, source] of sources)
        for (const [sampleLabels, value] of samples(source)) add({ [label]: id, ...sampleLabels }, value);
    };
    if (isCounter)
      new Counter({
        ...configuration,
        async collect() {
          await updateMetric(this, (allLabels, value) => this.inc(allLabels, value));
        },
      });
    else
      new Gauge({
        ...configuration,
        async collect() {
          await updateMetric(this, (allLabels, value) => this.set(allLabels, value));
        },
      });
  }
}
