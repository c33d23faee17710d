import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** Creates the tables of requests to host processes, with their responses, and of the leases on host names. */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema
    .createTable('host_orders')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('host', 'text', (c) => c.notNull())
    .addColumn('server_id', 'text')
    .addColumn('question', 'text', (c) => c.notNull())
    // The process that waits for the response; null if none does.
    .addColumn('asker', 'text')
    .addColumn('asked_at', 'bigint', (c) => c.notNull())
    // The time at which the request expires; null if it never does.
    .addColumn('expires_at', 'bigint')
    .addColumn('begun_by', 'text')
    .addColumn('answer', 'text')
    .addColumn('answered_at', 'bigint')
    .execute();
  await db.schema.createIndex('host_orders_host').on('host_orders').columns(['host', 'asked_at']).execute();
  await db.schema.createIndex('host_orders_asker').on('host_orders').column('asker').execute();
  await db.schema
    .createTable('host_holds')
    .addColumn('host', 'text', (c) => c.primaryKey())
    .addColumn('owner', 'text', (c) => c.notNull())
    .addColumn('lease_until', 'bigint', (c) => c.notNull())
    .execute();
}
