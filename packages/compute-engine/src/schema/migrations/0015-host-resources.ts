import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** Creates the table for hosts' allocations of resource classes that have no column in `nodes`. */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema
    .createTable('host_resources')
    .addColumn('host', 'text', (c) => c.notNull())
    .addColumn('resource_class', 'text', (c) => c.notNull())
    .addColumn('used', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('host_resources_key', ['host', 'resource_class'])
    .execute();
}
