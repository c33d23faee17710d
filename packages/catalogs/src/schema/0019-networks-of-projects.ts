import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/**
 * Marks networks that are shared with single projects, so that lists find them without reading all networks, and external
 * networks that only single projects see.
 */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema.alterTable('networks').addColumn('granted', 'integer').execute();
  await db.schema.alterTable('networks').addColumn('restricted', 'integer').execute();
  await db.schema.createIndex('networks_granted').on('networks').column('granted').execute();
}
