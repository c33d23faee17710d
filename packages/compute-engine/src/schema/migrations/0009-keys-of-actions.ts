import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** An action's id consists of its server and its request, so an index on these two is redundant. */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema.dropIndex('instance_actions_1').execute();
}
