import { type Migration, Migrator, sql } from 'kysely';
import type { Session } from './database.js';
import { migrations } from './migrations/index.js';

async function toLatest({ db }: Session): Promise<void> {
  const provider = { getMigrations: async (): Promise<Record<string, Migration>> => migrations };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error) throw error;
}

/** Brings the tables up to date; several processes may do so at once. */
export async function migrate(session: Session): Promise<void> {
  if (session.kind === 'sqlite') return toLatest(session);
  // The migrator's own lock is a row of a table that it first has to create: processes that start together met there.
  await session.db.connection().execute(async (db) => {
    await sql`select pg_advisory_lock(hashtextextended('apistrata migrations', 0))`.execute(db);
    try {
      await toLatest(session);
    } finally {
      await sql`select pg_advisory_unlock(hashtextextended('apistrata migrations', 0))`.execute(db);
    }
  });
}
