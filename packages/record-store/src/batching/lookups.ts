export type LookupQuery<T> = (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;

/** Finds records of a table by their keys, in one query with the look-ups of concurrent callers. */
export interface Finder {
  find<T>(table: string, id: string, query: LookupQuery<T>): Promise<T | undefined>;
}

/**
 * Batches look-ups by key: all look-ups in one table within one turn of the event loop become one query, so that
 * concurrent callers need neither a connection nor a round trip each.
 */
export class Lookups implements Finder {
  /** The keys of the next query, by table. */
  readonly #next = new Map<
    string,
    { readonly ids: Set<string>; readonly found: Promise<ReadonlyMap<string, unknown>> }
  >();

  async find<T>(table: string, id: string, runQuery: LookupQuery<T>): Promise<T | undefined> {
    // PostgreSQL rejects keys with NUL, which must not fail the look-ups of other callers.
    if (id.includes('\0')) return (await runQuery([id])).get(id);
    let query = this.#next.get(table);
    if (!query) {
      const ids = new Set<string>();
      query = { ids, found: this.#runInNextBatch(table, ids, runQuery) };
      this.#next.set(table, query);
    }
    query.ids.add(id);
    return (await query.found).get(id) as T | undefined;
  }

  async #runInNextBatch<T>(
    table: string,
    ids: ReadonlySet<string>,
    query: LookupQuery<T>,
  ): Promise<ReadonlyMap<string, T>> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#next.delete(table);
    return query([...ids]);
  }
}
