import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** Creates the table for service records in JSON, such as users, projects and tokens. */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema
    .createTable('service_documents')
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('position', 'bigint', (c) => c.notNull())
    .addColumn('data', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('service_documents_key', ['kind', 'id'])
    .execute();
}
