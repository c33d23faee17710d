import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/**
 * Adds the number of the job's attempt to the table of host requests, so that requests of earlier attempts can be
 * cancelled.
 */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema
    .alterTable('host_orders')
    .addColumn('attempt', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
}
