import type { Session } from '@apistrata/record-store';
import { type RawBuilder, sql } from 'kysely';
import { CatalogError } from '../errors/catalog-error.js';

/** Whether the object `field` of a record has that entry. `field` is a name of ours, never a caller's. */
export function hasEntry(session: Session, field: string, key: string, value: string): RawBuilder<boolean> {
  return session.kind === 'postgres'
    ? sql<boolean>`(data::jsonb -> ${sql.lit(field)} ->> ${key}) = ${value}`
    : sql<boolean>`exists (select 1 from json_each(data, ${sql.lit(`$.${field}`)}) as e where e.key = ${key} and e.value = ${value})`;
}

/** Whether the list of strings `field` of a record has that item. */
export function hasItem(session: Session, field: string, item: string): RawBuilder<boolean> {
  return session.kind === 'postgres'
    ? sql<boolean>`jsonb_exists(data::jsonb -> ${sql.lit(field)}, ${item})`
    : sql<boolean>`exists (select 1 from json_each(data, ${sql.lit(`$.${field}`)}) as e where e.value = ${item})`;
}

/** Refuses the one character that PostgreSQL cannot keep in a text, before it becomes a failure of the database. */
export function refuseNul(input: unknown): void {
  if (JSON.stringify(input)?.includes('\\u0000'))
    throw new CatalogError('REFUSED', 'Text may not hold the NUL character.');
}
