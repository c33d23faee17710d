import type { Stored } from '../model/stored.js';

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
    let records = this.#tables.get(table);
    if (!records) {
      records = new Map();
      this.#tables.set(table, records);
    }
    records.delete(id);
    records.set(id, record);
    if (records.size <= KEPT) return;
    for (const oldest of records.keys()) {
      records.delete(oldest);
      return;
    }
  }
}
