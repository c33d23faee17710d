import { type Migration, Migrator, sql } from 'kysely';
import { DatabaseTooNew } from '../errors/database-too-new.js';
import { databaseError } from '../errors/database-unavailable.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { openDatabase, type Session } from '../store/database.js';
import type { SchemaChange, SchemaChanges } from './schema-change.js';
import { createTablesInMemory } from './table-template.js';

/** A table with one row, which names the schema change that processes must know to use this database. */
const NEEDED_CHANGE_TABLE = 'schema_needs';

/** Returns the names of the schema changes that were applied to a database, oldest first. */
async function appliedChanges({ db }: Session): Promise<readonly string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === 'kysely_migration')) return [];
  const done = await db.selectFrom('kysely_migration').select('name').orderBy('name').execute();
  return done.map(({ name }) => String(name));
}

async function queryNeededChange({ db }: Session): Promise<string | undefined> {
  const row = await db.selectFrom(NEEDED_CHANGE_TABLE).select('name').executeTakeFirst();
  return row?.name;
}

/** Returns the newest schema change that is named in the `needs` of any change; by default, the first change. */
function newestNeededChange(changes: SchemaChanges): string {
  const neededNames = Object.values<SchemaChange>(changes).flatMap(({ needs = [] }) => needs);
  return neededNames.sort().at(-1) ?? (Object.keys(changes)[0] as string);
}

async function storeNeededChange(session: Session, needs: string): Promise<void> {
  await session.db.schema.createTable(NEEDED_CHANGE_TABLE).ifNotExists().addColumn('name', 'text').execute();
  if ((await queryNeededChange(session)) === needs) return;
  await session.db.transaction().execute(async (tx) => {
    await tx.deleteFrom(NEEDED_CHANGE_TABLE).execute();
    await tx.insertInto(NEEDED_CHANGE_TABLE).values({ name: needs }).execute();
  });
}

/**
 * Applies missing schema changes. A database that a newer version has changed is left unchanged. This version can use
 * such a database if the database has all changes of this version, and if the change that the database needs is one of
 * them.
 */
async function applyMissingChanges(session: Session, changes: SchemaChanges): Promise<void> {
  const done = await appliedChanges(session);
  const unknownNames = done.filter((name) => !Object.hasOwn(changes, name));
  if (unknownNames.length > 0) {
    const needs = await queryNeededChange(session).catch(() => undefined);
    const hasAllChanges = Object.keys(changes).every((name) => done.includes(name));
    if (!hasAllChanges || needs === undefined || !Object.hasOwn(changes, needs)) throw new DatabaseTooNew(unknownNames);
    return;
  }
  const needed = newestNeededChange(changes);
  // If no change is missing, the database is only read, because a process may not be allowed to change tables.
  if (done.length > 0 && done.length === Object.keys(changes).length && (await queryNeededChange(session)) === needed)
    return;
  const provider = { getMigrations: async (): Promise<Record<string, Migration>> => changes };
  const { error } = await new Migrator({ db: session.db, provider }).migrateToLatest();
  if (error) throw databaseError(error);
  await storeNeededChange(session, needed);
}

/** Applies all missing schema changes. Several processes, even of different versions, may call it concurrently. */
export async function migrate(
  session: Session,
  url: string,
  settings: DatabaseSettings,
  changes: SchemaChanges,
): Promise<void> {
  const applyChanges = () => applyMissingChanges(session, changes);
  if (session.kind === 'sqlite')
    return url === ':memory:' ? createTablesInMemory(session, changes, applyChanges) : applyChanges();
  // Changing a large table, or waiting for another process that does so, may take longer than the configured timeouts.
  const migrationDatabase = openDatabase(url, {
    ...settings,
    poolSize: 2,
    statementTimeoutMs: 0,
    lockTimeoutMs: 0,
    idleTransactionTimeoutMs: 0,
  });
  // The migrator's own lock is a row in a table that it must create first, so processes that start at the same time
  // would conflict. This lock belongs to a transaction, because behind a pooler, another client may use the session
  // after each transaction.
  const migration = migrationDatabase.db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('apistrata migrations', 0))`.execute(tx);
    await applyMissingChanges(migrationDatabase, changes);
  });
  await migration.finally(() => migrationDatabase.db.destroy());
}
