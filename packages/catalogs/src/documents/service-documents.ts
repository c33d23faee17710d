import { randomUUID } from 'node:crypto';
import { compoundKey, type Store, type Tx } from '@apistrata/record-store';
import { CatalogError } from '../errors/catalog-error.js';

/** Encrypts stored values. `location` identifies the record, so that a value cannot be decrypted in another record. */
export interface DocumentSeal {
  seal(text: string, location: string): string;
  open(sealed: string, location: string): string;
  /** Returns whether a value is encrypted with the current key. */
  isCurrent(sealed: string): boolean;
}

/** A stored record of a service, such as a user of the identity service. */
export interface ServiceDocument {
  /** The service and its record type, such as `identity/users`. */
  readonly kind: string;
  readonly id: string;
  /** The record's content: any JSON value. */
  readonly value: unknown;
}

/** A record's new value. If the value is undefined, the record is removed. */
export type DocumentChange = ServiceDocument;

/** The service documents that one process reads into memory, and a function that stores changes. */
export interface OpenDocuments {
  /** All records at the time of the `open()` call, oldest first. */
  readonly documents: readonly ServiceDocument[];
  /**
   * Stores changes in one transaction. The changes are durable when the promise resolves.
   *
   * @throws {@link CatalogError} `UNAVAILABLE` if the database fails, or if another process has opened the documents in
   * the meantime
   */
  write(changes: readonly DocumentChange[]): Promise<void>;
}

/** The store for the records of services that run in the same process as the engine. */
export interface ServiceDocuments {
  /**
   * Reads all documents for this process. Only the process that opened the documents last can write, so a process never
   * overwrites documents that it has not read.
   */
  open(): Promise<OpenDocuments>;
}

const DOCUMENTS_TABLE = 'service_documents';
/** The key of the row that contains the id of the process that may write. */
const OWNER_ROW_KEY = { kind: '', id: 'owner' } as const;
/** The maximum number of rows in one statement, because SQLite limits the number of parameters. */
const ROWS_PER_STATEMENT = 500;

interface DocumentRow {
  readonly kind: string;
  readonly id: string;
  readonly data: string;
}

async function upsertRows(tx: Tx, rows: readonly (DocumentRow & { readonly position: number })[]): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT)
    await tx.db
      .insertInto(DOCUMENTS_TABLE)
      .values(rows.slice(start, start + ROWS_PER_STATEMENT))
      .onConflict((conflict) =>
        conflict.columns(['kind', 'id']).doUpdateSet((eb) => ({ data: eb.ref('excluded.data') })),
      )
      .execute();
}

/**
 * Creates the store for service records that one process keeps in memory. Suitable for a small number of small records.
 *
 * @example
 * ```ts
 * import { catalogChanges, serviceDocuments } from '@apistrata/catalogs/builtin';
 * import { openStore } from '@apistrata/record-store';
 *
 * const store = await openStore(':memory:', catalogChanges);
 * const { write } = await serviceDocuments({ store }).open();
 * await write([{ kind: 'identity/users', id: 'ada', value: { name: 'Ada' } }]);
 * ```
 */
export function serviceDocuments(options: { readonly store: Store; readonly seal?: DocumentSeal }): ServiceDocuments {
  const { store, seal } = options;
  const placeOf = ({ kind, id }: { readonly kind: string; readonly id: string }) => compoundKey('document', kind, id);
  const encodeDocument = (document: ServiceDocument) => {
    const text = JSON.stringify(document.value);
    return seal ? seal.seal(text, placeOf(document)) : text;
  };
  const decodeDocument = ({ kind, id, data }: DocumentRow): ServiceDocument => ({
    kind,
    id,
    value: JSON.parse(seal ? seal.open(data, placeOf({ kind, id })) : data),
  });

  async function claimOwnership(owner: string): Promise<readonly DocumentRow[]> {
    return store.transaction(async (tx) => {
      await upsertRows(tx, [{ ...OWNER_ROW_KEY, position: 0, data: owner }]);
      const rows = await tx.db
        .selectFrom(DOCUMENTS_TABLE)
        .select(['kind', 'id', 'data'])
        .where('kind', '!=', OWNER_ROW_KEY.kind)
        .orderBy('position')
        .execute();
      return rows as unknown as readonly DocumentRow[];
    });
  }

  async function write(owner: string, position: () => number, changes: readonly DocumentChange[]): Promise<void> {
    const storedChanges = changes.filter(({ value }) => value !== undefined);
    const rows = storedChanges.map((change) => ({
      kind: change.kind,
      id: change.id,
      position: position(),
      data: encodeDocument(change),
    }));
    await store.transaction(async (tx) => {
      // The update locks the owner row until the end of the transaction, so that no other process can open the
      // documents.
      const { numUpdatedRows } = await tx.db
        .updateTable(DOCUMENTS_TABLE)
        .set({ position: 0 })
        .where('kind', '=', OWNER_ROW_KEY.kind)
        .where('id', '=', OWNER_ROW_KEY.id)
        .where('data', '=', owner)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows !== 1n)
        throw new CatalogError(
          'UNAVAILABLE',
          'Another process serves this cloud from the same database, so this process can no longer write.',
        );
      for (const { kind, id, value } of changes)
        if (value === undefined)
          await tx.db.deleteFrom(DOCUMENTS_TABLE).where('kind', '=', kind).where('id', '=', id).execute();
      await upsertRows(tx, rows);
    });
  }

  return {
    async open() {
      const owner = randomUUID();
      const rows = await claimOwnership(owner);
      const documents = rows.map(decodeDocument);
      let lastPosition = Date.now() * 1000;
      const position = () => {
        lastPosition = Math.max(lastPosition + 1, Date.now() * 1000);
        return lastPosition;
      };
      const outdatedDocuments = seal ? documents.filter((_, at) => !seal.isCurrent(rows[at]?.data ?? '')) : [];
      if (outdatedDocuments.length > 0) await write(owner, position, outdatedDocuments);
      return {
        documents,
        async write(changes) {
          try {
            await write(owner, position, changes);
          } catch (error) {
            if (error instanceof CatalogError) throw error;
            throw new CatalogError('UNAVAILABLE', 'The database is unavailable.', { cause: error });
          }
        },
      };
    },
  };
}
