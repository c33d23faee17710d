import type { New, Stored } from './stored.js';

export type ColumnValue = string | number | null;

/** The definition of a document table: its name, its key, and the columns by which lists filter and sort. */
export interface DocumentTableSpec<R extends Stored> {
  readonly name: string;
  readonly key: (record: New<R>) => string;
  readonly columns: Readonly<Record<string, (record: New<R>) => ColumnValue | boolean | undefined>>;
  /** Default values for fields that were added later and that older records therefore do not contain. */
  readonly defaults?: Partial<New<R>>;
  /**
   * Whether the records belong to no project and their changes must be visible to all callers immediately. Not suitable
   * for records that change often.
   */
  readonly sharedByAll?: boolean;
}

/** Returns the ID of a record's owner: its project, or its user if it has no project. */
export function ownerOf(
  record: { readonly projectId?: unknown; readonly userId?: unknown } | undefined,
): string | undefined {
  const owner = record?.projectId ?? record?.userId;
  return typeof owner === 'string' ? owner : undefined;
}

/** Converts a field's value to a column value. Booleans become 0 or 1, and undefined becomes null. */
export function toColumn(value: ColumnValue | boolean | undefined): ColumnValue {
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}

/** Returns a random revision number for a write. Revisions are compared only for equality. */
export function newRevision(): number {
  return Math.floor(Math.random() * 2 ** 52);
}
