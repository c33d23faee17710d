import { isPostgres, type Rows } from '@apistrata/record-store';
import { type Kysely, sql } from 'kysely';

/**
 * Adds names and addresses to the index of a project's servers, in which SQLite searches for substrings in page order,
 * without reading rows that do not match. PostgreSQL uses trigram indexes for this.
 */
export async function up(db: Kysely<Rows>): Promise<void> {
  if (isPostgres(db)) return;
  await db.schema.dropIndex('servers_of_project').execute();
  await sql`
    create index servers_of_project on servers (project_id, created_at, seq, name, addresses)
      where deleted = 0`.execute(db);
}
