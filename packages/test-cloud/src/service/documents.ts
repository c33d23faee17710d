/** A record that a service keeps for itself, in the words of the wire. */
export type Doc = Readonly<Record<string, unknown>> & { readonly id: string };

type Tables = Map<string, Map<string, unknown>>;

/** Everything in the documents at one moment. */
export type DocumentsState = ReadonlyMap<string, ReadonlyMap<string, unknown>>;

/** What the services know that compute does not care for: tables by name, records by id, in the order they were made. */
export class Documents {
  #tables: Tables = new Map();

  /** A table is there as soon as somebody asks for it. Its name says whose it is: `network/trunks`. */
  table<T = Doc>(name: string): Map<string, T> {
    let table = this.#tables.get(name);
    if (!table) {
      table = new Map();
      this.#tables.set(name, table);
    }
    return table as Map<string, T>;
  }

  clear(): void {
    this.#tables = new Map();
  }

  save(): DocumentsState {
    return structuredClone(this.#tables);
  }

  restore(state: DocumentsState): void {
    this.#tables = structuredClone(state) as Tables;
  }
}
