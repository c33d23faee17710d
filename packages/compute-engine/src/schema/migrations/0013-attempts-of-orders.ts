import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** A request to a host says which attempt of its job makes it: one of an attempt before is withdrawn. */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema
    .alterTable('host_orders')
    .addColumn('attempt', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
}
