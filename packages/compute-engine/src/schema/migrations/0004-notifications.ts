import { createDocumentTable, type Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** Creates a table for events to be sent, and a table for the position of each listener. */
export async function up(db: Kysely<Rows>): Promise<void> {
  // position: the order in which events are sent; null until a process assigns it after the commit.
  await createDocumentTable(db, 'notifications', {
    columns: { event_type: 'text', server_id: 'text', created_at: 'bigint', position: 'bigint' },
    indexes: [['position'], ['created_at']],
  });
  await db.schema
    .createTable('notification_cursors')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('position', 'bigint', (c) => c.notNull())
    .addColumn('lease_owner', 'text')
    .addColumn('lease_until', 'bigint', (c) => c.notNull())
    .execute();
  await db.insertInto('notification_cursors').values({ name: '', position: 0, lease_until: 0 }).execute();
}
