/** What stands for values beyond the bound. */
const OTHER = 'other';

/**
 * Keeps what clients choose from making ever more time series: the first so many values of a label stay what they are,
 * all others share one.
 */
export class BoundedLabel {
  readonly #most: number;
  readonly #known = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  of(value: string): string {
    if (this.#known.has(value)) return value;
    if (this.#known.size >= this.#most) return OTHER;
    this.#known.add(value);
    return value;
  }
}
