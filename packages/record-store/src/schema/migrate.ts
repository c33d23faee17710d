import { type Migration, Migrator, sql } from 'kysely';
import { DatabaseTooNew } from '../errors/database-too-new.js';
import { databaseError } from '../errors/database-unavailable.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { openDatabase, type Session } from '../store/database.js';
import type { SchemaChange, SchemaChanges } from './schema-change.js';
import { makeTablesInMemory } from './table-template.js';

/** One row: the change that processes have to know to work here. */
const NEEDS = 'schema_needs';

/** Names of the changes that a database has, oldest first. */
async function changesDone({ db }: Session): Promise<readonly string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === 'kysely_migration')) return [];
  const done = await db.selectFrom('kysely_migration').select('name').orderBy('name').execute();
  return done.map(({ name }) => String(name));
}

async function neededChange({ db }: Session): Promise<string | undefined> {
  const row = await db.selectFrom(NEEDS).select('name').executeTakeFirst();
  return row?.name;
}

/** What the changes need of those who work with what they leave: the newest that one of them names. */
function needsOf(changes: SchemaChanges): string {
  const named = Object.values<SchemaChange>(changes).flatMap(({ needs = [] }) => needs);
  return named.sort().at(-1) ?? Object.keys(changes)[0]!;
}

async function writeNeeds(session: Session, needs: string): Promise<void> {
  await session.db.schema.createTable(NEEDS).ifNotExists().addColumn('name', 'text').execute();
  if ((await neededChange(session)) === needs) return;
  await session.db.transaction().execute(async (tx) => {
    await tx.deleteFrom(NEEDS).execute();
    await tx.insertInto(NEEDS).values({ name: needs }).execute();
  });
}

/**
 * Makes what is missing. A database that a newer version has changed is left as it is: good enough for this one when all
 * that took something away since has been prepared by a change that this one knows.
 */
async function toLatest(session: Session, changes: SchemaChanges): Promise<void> {
  const done = await changesDone(session);
  const unknown = done.filter((name) => !Object.hasOwn(changes, name));
  if (unknown.length > 0) {
    const needs = await neededChange(session).catch(() => undefined);
    const whole = Object.keys(changes).every((name) => done.includes(name));
    if (!whole || needs === undefined || !Object.hasOwn(changes, needs)) throw new DatabaseTooNew(unknown);
    return;
  }
  const provider = { getMigrations: async (): Promise<Record<string, Migration>> => changes };
  const { error } = await new Migrator({ db: session.db, provider }).migrateToLatest();
  if (error) throw databaseError(error);
  await writeNeeds(session, needsOf(changes));
}

/** Brings the tables up to date; several processes, also of different versions, may do so at once. */
export async function migrate(
  session: Session,
  url: string,
  settings: DatabaseSettings,
  changes: SchemaChanges,
): Promise<void> {
  const latest = () => toLatest(session, changes);
  if (session.kind === 'sqlite') return url === ':memory:' ? makeTablesInMemory(session, changes, latest) : latest();
  // Changing large tables, and waiting for others who do, may take longer than any question.
  const patient = openDatabase(url, {
    ...settings,
    poolSize: 2,
    statementTimeoutMs: 0,
    lockTimeoutMs: 0,
    idleTransactionTimeoutMs: 0,
  });
  // The migrator's own lock is a row of a table that it first has to create: processes that start together met there. This
  // one is a transaction's, for a session may be somebody else's after each: behind a pooler.
  const locked = patient.db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('apistrata migrations', 0))`.execute(tx);
    await toLatest(patient, changes);
  });
  await locked.finally(() => patient.db.destroy());
}
