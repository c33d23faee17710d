import type { Rows } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

/** An action's id is made of its server and its request: an index of these two says the same once more. */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema.dropIndex('instance_actions_1').execute();
}
