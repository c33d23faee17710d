import type { New, Stored } from './stored.js';

export type ColumnValue = string | number | null;

/** How records of one kind are stored: the key, and the columns by which lists filter and sort. */
export interface DocumentTableSpec<R extends Stored> {
  readonly name: string;
  readonly key: (record: New<R>) => string;
  readonly columns: Readonly<Record<string, (record: New<R>) => ColumnValue | boolean | undefined>>;
  /** Values of fields that older records lack because the fields were added later. */
  readonly defaults?: Partial<New<R>>;
  /**
   * Whether the table belongs to no project and its changes must be visible to all readers immediately. Not suitable for
   * records that change often.
   */
  readonly sharedByAll?: boolean;
}

/** Returns the owner of a record: its project, or its user if it has no project. */
export function ownerOf(
  record: { readonly projectId?: unknown; readonly userId?: unknown } | undefined,
): string | undefined {
  const owner = record?.projectId ?? record?.userId;
  return typeof owner === 'string' ? owner : undefined;
}

/** Converts a value to the type of its column. */
export function toColumn(value: ColumnValue | boolean | undefined): ColumnValue {
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}

/** Returns a new revision, one for each write. Revisions are compared only for equality. */
export function newRevision(): number {
  return Math.floor(Math.random() * 2 ** 52);
}
