import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/**
 * Creates the table of networks that are shared with, or external for, individual projects. Adds a column that marks
 * external networks which only individual projects see.
 */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema
    .createTable('network_grants')
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('network_id', 'text', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('network_grants_key', ['project_id', 'network_id', 'action'])
    .execute();
  await db.schema.createIndex('network_grants_of_network').on('network_grants').column('network_id').execute();
  await db.schema.alterTable('networks').addColumn('restricted', 'integer').execute();
}
