import type { Rows } from '@apistrata/record-store';
import { type Kysely, sql } from 'kysely';

/**
 * Replaces the indexes for the usage of a project in a period. The new indexes suffice to select the servers of a page,
 * so rows of later pages are not read.
 */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema.dropIndex('servers_ended_of').execute();
  await sql`
    create index servers_ended_in on servers (project_id, terminated_at, id, seq, launched_at)
      where terminated_at is not null`.execute(db);
  await db.schema.dropIndex('server_usage_0').execute();
  await sql`
    create index server_usage_ended_in on server_usage (project_id, terminated_at, id, seq, launched_at)`.execute(db);
}
