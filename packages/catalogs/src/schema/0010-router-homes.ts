import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** Creates the table that contains each router's host if hosts are separate processes. */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema
    .createTable('router_homes')
    .addColumn('router_id', 'text', (c) => c.primaryKey())
    .addColumn('host', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('router_homes_host').on('router_homes').column('host').execute();
}
