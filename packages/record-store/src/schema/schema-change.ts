import type { Migration } from 'kysely';

/** One change of the tables. */
export interface SchemaChange extends Migration {
  /**
   * For a change that removes something: the earlier change since which processes no longer use it. A process without
   * that change rejects the database. Omitted for changes that only add.
   */
  readonly needs?: string;
}

/** The schema changes of a package by name. Names sort in the order in which the changes apply. */
export type SchemaChanges = Readonly<Record<string, SchemaChange>>;

/**
 * Joins the changes of several parts of one database, oldest first. Changes of several parts with the same name are
 * applied as one change, in the order of the parts.
 */
export function joinChanges(...parts: readonly SchemaChanges[]): SchemaChanges {
  const names = [...new Set(parts.flatMap((part) => Object.keys(part)))].sort();
  return Object.fromEntries(names.map((name) => [name, joinChangesOfName(parts.flatMap((part) => part[name] ?? []))]));
}

function joinChangesOfName(changes: readonly SchemaChange[]): SchemaChange {
  const needs = changes.flatMap((change) => change.needs ?? []).sort();
  return {
    ...(needs.length > 0 && { needs: needs.at(-1) }),
    async up(db) {
      for (const change of changes) await change.up(db);
    },
  };
}
