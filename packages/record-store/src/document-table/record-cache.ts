import type { Stored } from './stored.js';

/** Records of one table that are kept at the most. */
const KEPT = 4000;

/**
 * The records that a store has read lately, by table and id: decoded once, then shared as long as they are kept. Each
 * store has its own, so that engines in one process do not push out each other's; what is asked for again stays.
 *
 * A `Map` in the order of use: libraries set aside room for the most they may keep, and a process may have a hundred
 * stores that know a few records each.
 */
export class RecordCache {
  readonly #tables = new Map<string, Map<string, Stored>>();
  /** By table: revisions of records that were met and let go, by id. */
  readonly #met = new Map<string, Map<string, number>>();
  /** Tables whose last page was one of records that were not known. */
  readonly #strange = new Set<string>();
  readonly #behind: RecordCache | undefined;

  /** @param behind looked into for what this one does not have, and never written to: readers of a replica may be late */
  constructor(behind?: RecordCache) {
    this.#behind = behind;
  }

  get<R extends Stored>(table: string, id: string): R | undefined {
    const records = this.#tables.get(table) as Map<string, R> | undefined;
    const record = records?.get(id);
    // While there is room for twice as many, nothing is about to go.
    if (records && record && records.size > KEPT / 2) {
      records.delete(id);
      records.set(id, record);
    }
    return record ?? this.#behind?.get(table, id);
  }

  set(table: string, id: string, record: Stored): void {
    keep(this.#tables, table, id, record);
  }

  /**
   * Keeps a record that was met before; what is met for the first time is only remembered to have been met. Most pages of
   * most projects are read once: kept, each of their records would push out another, and live just long enough to be dear.
   */
  meet(table: string, id: string, record: Stored): void {
    if (this.#met.get(table)?.get(id) === record.revision) this.set(table, id, record);
    else keep(this.#met, table, id, record.revision);
  }

  /** Told of each page how many of its records were not known. */
  told(table: string, unknown: number, records: number): void {
    if (unknown * 2 > records) this.#strange.add(table);
    else this.#strange.delete(table);
  }

  /** Whether the next page had better be read with its texts: the last one was of records that were not known. */
  expectsUnknown(table: string): boolean {
    return this.#strange.has(table);
  }
}

/** Keeps something under an id, as the last that would go. */
function keep<T>(tables: Map<string, Map<string, T>>, table: string, id: string, value: T): void {
  let kept = tables.get(table);
  if (!kept) {
    kept = new Map();
    tables.set(table, kept);
  }
  kept.delete(id);
  kept.set(id, value);
  if (kept.size <= KEPT) return;
  for (const oldest of kept.keys()) {
    kept.delete(oldest);
    return;
  }
}
