/** Label of all values beyond the limit. */
const OTHER = 'other';

/**
 * Bounds the number of time series that clients can create: the first values of a label are kept, all others share one.
 */
export class BoundedLabel {
  readonly #max: number;
  readonly #known = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  of(value: string): string {
    if (this.#known.has(value)) return value;
    if (this.#known.size >= this.#max) return OTHER;
    this.#known.add(value);
    return value;
  }
}
