/** The label value for all values beyond the limit. */
const OTHER_LABEL = 'other';

/**
 * Limits the number of time series that clients can create: after `max` distinct values, all new values share one label
 * value.
 */
export class BoundedLabel {
  readonly #max: number;
  readonly #values = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  of(value: string): string {
    if (this.#values.has(value)) return value;
    if (this.#values.size >= this.#max) return OTHER_LABEL;
    this.#values.add(value);
    return value;
  }
}
