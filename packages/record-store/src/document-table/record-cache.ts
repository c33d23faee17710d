import type { Stored } from './stored.js';

/** The maximum number of cached records per table. */
const MAX_CACHED_RECORDS = 4000;

/**
 * A least-recently-used cache of decoded records, by table and id. Each store has its own cache, so that engines in one
 * process do not evict each other's records.
 *
 * Each table's entries are in a `Map` in the order of use, because cache libraries preallocate their maximum size, and
 * a process may have a hundred stores with few records each.
 */
export class RecordCache {
  readonly #tables = new Map<string, Map<string, Stored>>();
  /** Revisions of records that were read only once and are therefore not cached, by table and id. */
  readonly #revisionsReadOnce = new Map<string, Map<string, number>>();
  /** Tables whose last page consisted mostly of records that were not cached. */
  readonly #mostlyUncachedTables = new Set<string>();
  readonly #fallback: RecordCache | undefined;

  /**
   * @param fallback a cache that is read if this cache does not contain a record. It is never written to, because
   *   records from a replica may be outdated
   */
  constructor(fallback?: RecordCache) {
    this.#fallback = fallback;
  }

  get<R extends Stored>(table: string, id: string): R | undefined {
    const records = this.#tables.get(table) as Map<string, R> | undefined;
    const record = records?.get(id);
    // While a table's cache is at most half full, no eviction is near, so the order of use does not matter.
    if (records && record && records.size > MAX_CACHED_RECORDS / 2) {
      records.delete(id);
      records.set(id, record);
    }
    return record ?? this.#fallback?.get(table, id);
  }

  set(table: string, id: string, record: Stored): void {
    storeEntry(this.#tables, table, id, record);
  }

  delete(table: string, id: string): void {
    this.#tables.get(table)?.delete(id);
  }

  /**
   * Caches a record on its second read. On the first read, only its revision is stored. Most pages of most projects are
   * read once: caching their records would evict others, and the records would live just long enough to become
   * expensive for the garbage collector.
   */
  setOnSecondRead(table: string, id: string, record: Stored): void {
    if (this.#revisionsReadOnce.get(table)?.get(id) === record.revision) this.set(table, id, record);
    else storeEntry(this.#revisionsReadOnce, table, id, record.revision);
  }

  /** Updates the result of `isMostlyUncached` after a page was read. */
  onPageRead(table: string, uncached: number, records: number): void {
    if (uncached * 2 > records) this.#mostlyUncachedTables.add(table);
    else this.#mostlyUncachedTables.delete(table);
  }

  /**
   * Returns whether the next page should be read with the JSON of its records, because most records of the last page
   * were not cached.
   */
  isMostlyUncached(table: string): boolean {
    return this.#mostlyUncachedTables.has(table);
  }
}

/** Adds an entry as the most recently used one. Evicts the least recently used entry if the limit is exceeded. */
function storeEntry<T>(tables: Map<string, Map<string, T>>, table: string, id: string, value: T): void {
  let cached = tables.get(table);
  if (!cached) {
    cached = new Map();
    tables.set(table, cached);
  }
  cached.delete(id);
  cached.set(id, value);
  if (cached.size <= MAX_CACHED_RECORDS) return;
  for (const oldestId of cached.keys()) {
    cached.delete(oldestId);
    return;
  }
}
