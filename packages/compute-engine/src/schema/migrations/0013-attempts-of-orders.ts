import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** A request to a host contains the attempt of its job: requests of earlier attempts are cancelled. */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema
    .alterTable('host_orders')
    .addColumn('attempt', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
}
