/** The label of all values beyond the limit. */
const OTHER = 'other';

/**
 * Bounds the number of time series that clients can create: after `max` different values, all new values share a label.
 */
export class BoundedLabel {
  readonly #max: number;
  readonly #values = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  of(value: string): string {
    if (this.#values.has(value)) return value;
    if (this.#values.size >= this.#max) return OTHER;
    this.#values.add(value);
    return value;
  }
}
