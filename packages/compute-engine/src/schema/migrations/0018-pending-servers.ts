import type { Rows } from '@apistrata/record-store';
import { type Kysely, sql } from 'kysely';

/**
 * The index of servers that wait for the scheduler. Its condition does not contain `deleted`, as those of all other
 * indexes of states do, so a query without `deleted` can use no other one: with outdated statistics, PostgreSQL read all
 * servers that were being built instead.
 */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema.dropIndex('servers_unscheduled').execute();
  await sql`
    create index servers_pending on servers (project_id, created_at, seq)
      where vm_state = 'building' and task_state = 'scheduling'`.execute(db);
}
