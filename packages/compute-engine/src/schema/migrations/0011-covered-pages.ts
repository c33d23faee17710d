import { isPostgres, type Rows } from '@apistrata/record-store';
import { type Kysely, sql } from 'kysely';

/**
 * PostgreSQL: indexes of pages, with what lists compare besides. Without statistics its planner expects one row of any index,
 * and takes the smallest. So each kind of question says in words of its own that a server is not deleted, which only the
 * indexes that are meant for it have: of all servers `deleted <= 0`, of a project's `deleted < 1`, of others `deleted = 0`.
 */
const pages: Readonly<Record<string, string>> = {
  servers_newest: '(created_at, seq) include (vm_state, name, addresses) where deleted <= 0',
  servers_by_name: '(name, created_at, seq) include (vm_state) where deleted <= 0',
  servers_of_project: '(project_id, created_at, seq) include (vm_state, name, addresses) where deleted < 1',
  servers_of_project_by_name: '(project_id, name, created_at, seq) include (vm_state) where deleted < 1',
  servers_of_project_in_state: '(project_id, vm_state, created_at, seq) include (vcpus, memory_mb) where deleted < 1',
};

/**
 * Parts of names and addresses are looked for in the order of pages without a look at rows that do not fit, a project's too,
 * on PostgreSQL as on SQLite. What a project asks is answered by its own servers, also who of them is in the middle of
 * something.
 */
export async function up(db: Kysely<Rows>): Promise<void> {
  const postgres = isPostgres(db);
  await sql`
    create index servers_of_project_in_task on servers (project_id, task_state, created_at, seq)
      where ${sql.raw(postgres ? 'deleted < 1' : 'deleted = 0')} and task_state is not null`.execute(db);
  if (!postgres) return;
  for (const [name, definition] of Object.entries(pages)) {
    await db.schema.dropIndex(name).execute();
    await sql`create index ${sql.raw(name)} on servers ${sql.raw(definition)}`.execute(db);
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
