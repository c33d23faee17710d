import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** Creates one index per filterable column, in page order, for lists of the migrations of all projects' servers. */
export async function up(db: Kysely<Rows>): Promise<void> {
  for (const column of ['source_host', 'dest_host', 'status', 'type', 'user_id'])
    await db.schema.createIndex(`migrations_by_${column}`).on('migrations').columns([column, 'seq']).execute();
}
