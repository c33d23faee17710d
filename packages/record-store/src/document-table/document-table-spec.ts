import type { New, Stored } from './stored.js';

export type ColumnValue = string | number | null;

/** How records of one kind are kept: the key and, as columns of their own, whatever lists filter and sort by. */
export interface DocumentTableSpec<R extends Stored> {
  readonly name: string;
  readonly key: (record: New<R>) => string;
  readonly columns: Readonly<Record<string, (record: New<R>) => ColumnValue | boolean | undefined>>;
  /** What stands for fields that records do not have because they were stored before there were such fields. */
  readonly defaults?: Partial<New<R>>;
  /** Belongs to no project, and everybody's readers must see what is written at once. Not for what changes every moment. */
  readonly everybodys?: boolean;
}

/** What belongs to a project is its project's; what belongs to a user alone, the user's. */
export function ownerOf(
  record: { readonly projectId?: unknown; readonly userId?: unknown } | undefined,
): string | undefined {
  const owner = record?.projectId ?? record?.userId;
  return typeof owner === 'string' ? owner : undefined;
}

/** A value as columns have it. */
export function toColumn(value: ColumnValue | boolean | undefined): ColumnValue {
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}

/** New for each write; only its being different counts. */
export function newRevision(): number {
  return Math.floor(Math.random() * 2 ** 52);
}
