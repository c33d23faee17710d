import type { Rows } from '@apistrata/record-store';
import { type Kysely, sql } from 'kysely';

/**
 * Replaces the index of servers that wait for the scheduler. Unlike the conditions of all other indexes of states, its
 * condition does not contain `deleted`, so a query without `deleted` can use only this index. Previously, with outdated
 * statistics, PostgreSQL read all servers that were being built.
 */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema.dropIndex('servers_unscheduled').execute();
  await sql`
    create index servers_pending on servers (project_id, created_at, seq)
      where vm_state = 'building' and task_state = 'scheduling'`.execute(db);
}
