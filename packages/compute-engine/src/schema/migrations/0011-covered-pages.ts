import { isPostgres, type Rows } from '@apistrata/record-store';
import { type Kysely, sql } from 'kysely';

/**
 * The indexes for list pages on PostgreSQL, which include the columns that lists compare. Without statistics, the
 * planner expects one row from any index and selects the smallest index. Therefore, each kind of query writes the
 * condition "not deleted" in a different form, which occurs only in the indexes for that kind: `deleted <= 0` for all
 * servers, `deleted < 1` for those of a project, `deleted = 0` otherwise.
 */
const pages: Readonly<Record<string, string>> = {
  servers_newest: '(created_at, seq) include (vm_state, name, addresses) where deleted <= 0',
  servers_by_name: '(name, created_at, seq) include (vm_state) where deleted <= 0',
  servers_of_project: '(project_id, created_at, seq) include (vm_state, name, addresses) where deleted < 1',
  servers_of_project_by_name: '(project_id, name, created_at, seq) include (vm_state) where deleted < 1',
  servers_of_project_in_state: '(project_id, vm_state, created_at, seq) include (vcpus, memory_mb) where deleted < 1',
};

/**
 * Replaces indexes so that PostgreSQL, like SQLite, searches for substrings of names and addresses in page order,
 * without reading rows that do not match, even in lists of one project. Queries for a project read only its own
 * servers, even when they filter by task state.
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
  await increaseVacuumFrequency(db);
}

/**
 * Vacuums the table `servers` more often, because index-only scans need a recent vacuum. PostgreSQL before 13 lacks
 * some of these settings.
 */
async function increaseVacuumFrequency(db: Kysely<Rows>): Promise<void> {
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
