import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** Drops an index on server and request, which is redundant because an action's id consists of these two. */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema.dropIndex('instance_actions_1').execute();
}
