import { LRUCache } from 'lru-cache';

/** A map whose entries expire, with a maximum size. When it is full, it evicts the least recently used entry. */
export class ExpiringMap<Value> {
  readonly #entries: LRUCache<string, { readonly value: Value; readonly until: number }> | undefined;

  constructor(max: number) {
    this.#entries = max > 0 ? new LRUCache({ max }) : undefined;
  }

  /** Returns the value of a key unless it has expired. All times are milliseconds of one clock. */
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
