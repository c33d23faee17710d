import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../create-table.js';
import type { Rows } from '../database.js';

/** Indexes in the orders of pages, and what lists compare besides: who is soft-deleted is not listed. */
const indexes: Readonly<Record<string, string>> = {
  servers_newest: '(created_at, seq) include (vm_state, name, addresses)',
  servers_of_project: '(project_id, created_at, seq) include (vm_state, name, addresses)',
  servers_by_name: '(name, created_at, seq) include (vm_state)',
  servers_of_project_by_name: '(project_id, name, created_at, seq) include (vm_state)',
};

/**
 * Parts of names and addresses are looked for in the order of pages without a look at rows that do not fit, a project's too,
 * on PostgreSQL as on SQLite. Who looks there says `deleted < 1`, so that no other index of undeleted servers can be taken.
 */
export async function up(db: Kysely<Rows>): Promise<void> {
  if (!isPostgres(db)) return;
  for (const [name, definition] of Object.entries(indexes)) {
    await db.schema.dropIndex(name).execute();
    await sql`create index ${sql.raw(name)} on servers ${sql.raw(definition)} where deleted < 1`.execute(db);
  }
  await vacuumOften(db);
}

/** Such an index is enough only where vacuum has been since the rows were written. Servers before 13 know less about that. */
async function vacuumOften(db: Kysely<Rows>): Promise<void> {
  await sql`
    do $$ begin
      alter table servers set (
        autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.02,
        autovacuum_analyze_scale_factor = 0.02);
    exception when others then
      raise notice 'servers are vacuumed as other tables are: %', sqlerrm;
    end $$`.execute(db);
}
