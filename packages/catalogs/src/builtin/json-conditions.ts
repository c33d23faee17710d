import type { Session } from '@apistrata/record-store';
import { type RawBuilder, sql } from 'kysely';
import { CatalogError } from '../errors/catalog-error.js';

/**
 * Returns an SQL condition for records whose object `field` has the given value for the given key. `field` is a
 * hard-coded constant, never user input.
 */
export function hasEntry(session: Session, field: string, key: string, value: string): RawBuilder<boolean> {
  return session.kind === 'postgres'
    ? sql<boolean>`(data::jsonb -> ${sql.lit(field)} ->> ${key}) = ${value}`
    : sql<boolean>`exists (select 1 from json_each(data, ${sql.lit(`$.${field}`)}) as e where e.key = ${key} and e.value = ${value})`;
}

/** Returns an SQL condition for records whose string array `field` contains the given item. */
export function hasItem(session: Session, field: string, item: string): RawBuilder<boolean> {
  return session.kind === 'postgres'
    ? sql<boolean>`jsonb_exists(data::jsonb -> ${sql.lit(field)}, ${item})`
    : sql<boolean>`exists (select 1 from json_each(data, ${sql.lit(`$.${field}`)}) as e where e.value = ${item})`;
}

/** Rejects the NUL character, which PostgreSQL cannot store, before it causes a database error. */
export function rejectNul(input: unknown): void {
  if (JSON.stringify(input)?.includes('\\u0000'))
    throw new CatalogError('REJECTED', 'Strings must not contain the NUL character.');
}
