import { LRUCache } from 'lru-cache';

/** A map with a maximum size, whose entries expire. When the map is full, it evicts the least recently used entry. */
export class ExpiringMap<Value> {
  readonly #entries: LRUCache<string, { readonly value: Value; readonly until: number }> | undefined;

  constructor(max: number) {
    this.#entries = max > 0 ? new LRUCache({ max }) : undefined;
  }

  /**
   * Returns the value for a key, or undefined if the key is missing or expired. `now` and `until` are times on the same
   * clock, in milliseconds.
   */
  get(key: string, now: number): Value | undefined {
    const entry = this.#entries?.get(key);
    if (entry === undefined) return undefined;
    if (now < entry.until) return entry.value;
    this.#entries?.delete(key);
    return undefined;
  }

  set(key: string, value: Value, until: number): void {
    this.#entries?.set(key, { value, until });
  }
}
