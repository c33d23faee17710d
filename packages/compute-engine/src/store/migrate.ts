import { type Migration, Migrator, sql } from 'kysely';
import { openDatabase, type Session } from './database.js';
import type { DatabaseSettings } from './database-settings.js';
import { databaseError } from './database-unavailable.js';
import { migrations } from './migrations/index.js';

/** The database has changes that this version knows nothing of: somebody has run a newer one on it. */
export class DatabaseTooNew extends Error {
  override readonly name = 'DatabaseTooNew';
  readonly code = 'DATABASE_TOO_NEW';

  constructor(unknown: readonly string[]) {
    super(
      `It was made by a newer version of this software (${unknown.join(', ')} is unknown to this one). Run that version, or give this one a database of its own.`,
    );
  }
}

async function refuseNewer({ db }: Session): Promise<void> {
  const [table] = await db.introspection
    .getTables({ withInternalKyselyTables: true })
    .then((tables) => tables.filter(({ name }) => name === 'kysely_migration'));
  if (!table) return;
  const done = await db.selectFrom('kysely_migration').select('name').orderBy('name').execute();
  const unknown = done.map(({ name }) => String(name)).filter((name) => !Object.hasOwn(migrations, name));
  if (unknown.length > 0) throw new DatabaseTooNew(unknown);
}

async function toLatest(session: Session): Promise<void> {
  await refuseNewer(session);
  const provider = { getMigrations: async (): Promise<Record<string, Migration>> => migrations };
  const { error } = await new Migrator({ db: session.db, provider }).migrateToLatest();
  if (error) throw databaseError(error);
}

/** Brings the tables up to date; several processes may do so at once. */
export async function migrate(session: Session, url: string, settings: DatabaseSettings): Promise<void> {
  if (session.kind === 'sqlite') return toLatest(session);
  // Changing large tables, and waiting for others who do, may take longer than any question.
  const patient = openDatabase(url, {
    ...settings,
    poolSize: 2,
    statementTimeoutMs: 0,
    lockTimeoutMs: 0,
    idleTransactionTimeoutMs: 0,
  });
  // The migrator's own lock is a row of a table that it first has to create: processes that start together met there.
  const locked = patient.db.connection().execute(async (db) => {
    await sql`select pg_advisory_lock(hashtextextended('apistrata migrations', 0))`.execute(db);
    try {
      await toLatest(patient);
    } finally {
      await sql`select pg_advisory_unlock(hashtextextended('apistrata migrations', 0))`.execute(db);
    }
  });
  await locked.finally(() => patient.db.destroy());
}
