export type LookupQuery<T> = (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;

/** Finds records by key. Look-ups from concurrent callers share one query. */
export interface Finder {
  find<T>(table: string, id: string, query: LookupQuery<T>): Promise<T | undefined>;
}

/**
 * Batches look-ups by key. All look-ups in one table during one turn of the event loop become one query, so concurrent
 * callers share a connection and a round trip.
 */
export class Lookups implements Finder {
  /** The keys and the pending result of the next query, by table. */
  readonly #next = new Map<
    string,
    { readonly ids: Set<string>; readonly found: Promise<ReadonlyMap<string, unknown>> }
  >();

  async find<T>(table: string, id: string, runQuery: LookupQuery<T>): Promise<T | undefined> {
    // PostgreSQL rejects keys that contain NUL. Such a key is queried separately, so that other look-ups do not fail.
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
