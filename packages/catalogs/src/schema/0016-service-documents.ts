import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** Records of services in their wire format: users, projects, tokens, attributes that the catalogs do not have. */
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
