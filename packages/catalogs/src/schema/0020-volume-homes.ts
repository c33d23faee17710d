import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/**
 * Creates the table of the hosts that store the data of volumes and snapshots. `pending_gb` is the space that is
 * reserved until the data is stored.
 */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema
    .createTable('volume_homes')
    .addColumn('volume_id', 'text', (c) => c.primaryKey())
    .addColumn('host', 'text', (c) => c.notNull())
    .addColumn('pending_gb', 'integer')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('volume_homes_host').on('volume_homes').column('host').execute();
}
