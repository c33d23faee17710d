import { createDocumentTable, type Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** What is still to be told of what has happened, and how far each listener has come. */
export async function up(db: Kysely<Rows>): Promise<void> {
  // position: the order in which they are told; null until somebody has put them in order, after the commit.
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
