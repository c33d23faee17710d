import { LRUCache } from 'lru-cache';

/** Remembers values until a time, and no more than so many of them: what was not asked for longest goes first. */
export class ExpiringMap<Value> {
  readonly #entries: LRUCache<string, { readonly value: Value; readonly until: number }> | undefined;

  constructor(max: number) {
    this.#entries = max > 0 ? new LRUCache({ max }) : undefined;
  }

  /** Times in milliseconds, of one clock. */
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
