export type Ask<T> = (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;

/** Finds records of a table by their keys, together with those that others look for. */
export interface Finder {
  find<T>(table: string, id: string, ask: Ask<T>): Promise<T | undefined>;
}

/**
 * Looks records up by their keys: what is asked of one table in one turn of the event loop is one question, however many
 * ask, so that many who come at the same time need neither a connection nor a round trip each.
 */
export class Lookups implements Finder {
  /** By table: what the next question asks for. */
  readonly #next = new Map<
    string,
    { readonly ids: Set<string>; readonly found: Promise<ReadonlyMap<string, unknown>> }
  >();

  async find<T>(table: string, id: string, ask: Ask<T>): Promise<T | undefined> {
    // Keys that the database refuses must not fail the look-ups of others.
    if (id.includes('\0')) return (await ask([id])).get(id);
    let question = this.#next.get(table);
    if (!question) {
      const ids = new Set<string>();
      question = { ids, found: this.#soon(table, ids, ask) };
      this.#next.set(table, question);
    }
    question.ids.add(id);
    return (await question.found).get(id) as T | undefined;
  }

  async #soon<T>(table: string, ids: ReadonlySet<string>, ask: Ask<T>): Promise<ReadonlyMap<string, T>> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#next.delete(table);
    return ask([...ids]);
  }
}
