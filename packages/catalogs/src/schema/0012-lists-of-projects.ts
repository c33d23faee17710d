import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** Lists that a project asks for are found by the project: else everybody's are read. */
export async function up(db: Kysely<Rows>): Promise<void> {
  for (const table of ['volume_attachments', 'security_group_rules'])
    await db.schema.createIndex(`${table}_of_project`).on(table).columns(['project_id', 'seq']).execute();
}
