import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** Creates indexes for list queries of a single project, which would otherwise read the rows of all projects. */
export async function up(db: Kysely<Rows>): Promise<void> {
  for (const table of ['volume_attachments', 'security_group_rules'])
    await db.schema.createIndex(`${table}_of_project`).on(table).columns(['project_id', 'seq']).execute();
}
