import type { Migration } from 'kysely';

/** A migration of the database tables. */
export interface SchemaChange extends Migration {
  /**
   * For a change that removes something, the name of an earlier change. Processes that include the earlier change no
   * longer use what is removed; other processes reject the database. Omitted for changes that only add elements.
   */
  readonly needs?: string;
}

/** A package's schema changes by name. They are applied in the alphabetical order of their names. */
export type SchemaChanges = Readonly<Record<string, SchemaChange>>;

/**
 * Joins the schema changes of several parts of one database, oldest first. Changes with the same name are applied as
 * one change, in the order of the parts.
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
