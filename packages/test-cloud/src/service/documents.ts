/** A service's record in wire format. */
export type Doc = Readonly<Record<string, unknown>> & { readonly id: string };

/** A snapshot of all documents. */
export type DocumentsState = ReadonlyMap<string, ReadonlyMap<string, unknown>>;

/** A change to a document. The value is undefined if the document is removed. */
interface Change {
  readonly kind: string;
  readonly id: string;
  readonly value: unknown;
}

/** Durable storage for documents. Changes are durable when `write()` resolves. */
export interface DocumentStore {
  readonly documents: readonly Change[];
  write(changes: readonly Change[]): Promise<void>;
}

/** A table of documents that reports the id of each changed document. */
class Table extends Map<string, unknown> {
  readonly #changed: (id: string) => void;
  /** A number that increases with each change. */
  revision = 0;

  constructor(changed: (id: string) => void) {
    super();
    this.#changed = changed;
  }

  override set(id: string, value: unknown): this {
    this.revision += 1;
    this.#changed(id);
    return super.set(id, value);
  }

  override delete(id: string): boolean {
    const existed = super.delete(id);
    if (!existed) return false;
    this.revision += 1;
    this.#changed(id);
    return true;
  }
}

/**
 * The records of the services, except those that the compute engine stores. Tables are stored by name, and records by
 * id in order of creation. Values are immutable JSON, so each change replaces a complete value.
 */
export class Documents {
  readonly #store: DocumentStore | undefined;
  #tables = new Map<string, Table>();
  #changed = new Map<string, Set<string>>();
  #writing: Promise<void> | undefined;

  /** @param store stores the changes durably; default: documents are only in memory */
  constructor(store?: DocumentStore) {
    for (const { kind, id, value } of store?.documents ?? []) this.table<unknown>(kind).set(id, value);
    // These documents were read from the store, so they do not need to be written.
    this.#changed.clear();
    this.#store = store;
  }

  /** Whether documents survive a restart of the process. */
  get areDurable(): boolean {
    return this.#store !== undefined;
  }

  /** Returns a table, which is created on first use. Names start with the service: `network/trunks`. */
  table<T = Doc>(name: string): Map<string, T> {
    let table = this.#tables.get(name);
    if (!table) {
      table = new Table((id) => this.#note(name, id));
      this.#tables.set(name, table);
    }
    return table as Map<string, unknown> as Map<string, T>;
  }

  /** Returns a number that increases with each change to a table. */
  revisionOf(name: string): number {
    return this.#tables.get(name)?.revision ?? 0;
  }

  clear(): void {
    this.#tables = new Map();
  }

  save(): DocumentsState {
    return structuredClone(this.#tables);
  }

  restore(state: DocumentsState): void {
    this.clear();
    for (const [name, table] of structuredClone(state))
      for (const [id, value] of table) this.table<unknown>(name).set(id, value);
  }

  /**
   * Resolves when all changes so far are durable; immediately without a store. Concurrent callers share a write.
   *
   * @throws the store's error; the next write then contains the changes again
   */
  async flush(): Promise<void> {
    // A write in progress does not contain the latest changes. Its failure is reported only to its own callers.
    if (this.#writing) await this.#writing.catch(() => {});
    if (this.#changed.size > 0) this.#writing ??= this.#write();
    // Another waiting caller may have started the next write, which contains all callers' changes.
    await this.#writing;
  }

  #note(name: string, id: string): void {
    if (!this.#store) return;
    const ids = this.#changed.get(name);
    if (ids) ids.add(id);
    else this.#changed.set(name, new Set([id]));
  }

  async #write(): Promise<void> {
    const batch = this.#changed;
    this.#changed = new Map();
    const changes = [...batch].flatMap(([kind, ids]) =>
      [...ids].map((id) => ({ kind, id, value: this.#tables.get(kind)?.get(id) })),
    );
    try {
      await this.#store?.write(changes);
    } catch (error) {
      for (const { kind, id } of changes) this.#note(kind, id);
      throw error;
    } finally {
      this.#writing = undefined;
    }
  }
}
