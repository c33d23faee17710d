import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** Creates indexes in page order for lists of all projects' migrations that filter by one property. */
export async function up(db: Kysely<Rows>): Promise<void> {
  for (const column of ['source_host', 'dest_host', 'status', 'type', 'user_id'])
    await db.schema.createIndex(`migrations_by_${column}`).on('migrations').columns([column, 'seq']).execute();
}
