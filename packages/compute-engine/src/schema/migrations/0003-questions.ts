import { isPostgres, type Rows } from '@apistrata/record-store';
import { type Kysely, sql } from 'kysely';

/** The addresses of a record's interfaces and their floating addresses, separated by spaces. */
const ADDRESSES = {
  sqlite: `
    select group_concat(address, ' ') from (
      select json_extract(ip.value, '$.address') as address
      from json_each(servers.data, '$.interfaces') i, json_each(i.value, '$.fixedIps') ip
      union all
      select floating.value
      from json_each(servers.data, '$.interfaces') i, json_each(i.value, '$.fixedIps') ip, json_each(ip.value, '$.floating') floating
    )`,
  // Values are not passed as JSON: strings of a record may contain an escaped NUL, which PostgreSQL does not accept.
  postgres: `
    select string_agg(address, ' ') from (
      select found[1] as address from regexp_matches(servers.data, '"address":"([^"]+)"', 'g') as found
      union all
      select regexp_replace(found[1], '[",]+', ' ', 'g') from regexp_matches(servers.data, '"floating":\\[([^]]+)\\]', 'g') as found
    ) as addresses`,
} as const;

const LIVE = 'where deleted = 0';

/**
 * An index for each kind of list query: first the columns that are compared for equality, then the sort columns of the
 * pages. Such an index serves both the comparison and the sort order, so statistics cannot make another plan look
 * cheaper. Rare states have partial indexes.
 */
const indexes: Readonly<Record<string, string>> = {
  // Substrings of names and addresses are searched in this index, without reading rows.
  servers_newest: `(created_at, seq, name, addresses) ${LIVE}`,
  servers_of_project: `(project_id, created_at, seq) ${LIVE}`,
  // This index serves list pages, and quota usage is counted in it without reading rows.
  servers_of_project_in_state: `(project_id, vm_state, created_at, seq, vcpus, memory_mb) ${LIVE}`,
  servers_of_project_by_name: `(project_id, name, created_at, seq) ${LIVE}`,
  servers_of_project_by_change: '(project_id, updated_at, created_at, seq, deleted)',
  servers_in_state: `(vm_state, created_at, seq) ${LIVE}`,
  servers_by_name: `(name, created_at, seq) ${LIVE}`,
  servers_by_change: '(updated_at, created_at, seq, deleted)',
  servers_of_user: `(user_id, created_at, seq) ${LIVE}`,
  servers_of_image: `(image_id, created_at, seq) ${LIVE}`,
  servers_of_flavor: `(flavor_id, created_at, seq) ${LIVE}`,
  servers_on_host: `(host, created_at, seq) ${LIVE} and host is not null`,
  servers_of_reservation: `(reservation_id, created_at, seq) ${LIVE}`,
  servers_of_group: `(group_id) ${LIVE} and group_id is not null`,
  servers_in_task: `(task_state, created_at, seq) ${LIVE} and task_state is not null`,
  servers_unscheduled: `(project_id, created_at, seq) ${LIVE} and vm_state = 'building' and task_state = 'scheduling'`,
  servers_locked: `(created_at, seq) ${LIVE} and locked = 1`,
  servers_gone: "(created_at, seq) where deleted = 1 or vm_state = 'soft-delete'",
};

/** Adds the column `addresses`, and replaces overlapping indexes with ones that are optimal with any statistics. */
export async function up(db: Kysely<Rows>): Promise<void> {
  const postgres = isPostgres(db);
  await sql`alter table servers add column addresses text not null default ''`.execute(db);
  const addresses = sql.raw(ADDRESSES[postgres ? 'postgres' : 'sqlite']);
  await sql`update servers set addresses = coalesce((${addresses}), '') where data like '%"fixedIps":[{%'`.execute(db);
  for (let number = 0; number <= 9; number++) await db.schema.dropIndex(`servers_${number}`).execute();
  for (const [name, definition] of Object.entries(indexes))
    await sql`create index ${sql.raw(name)} on servers ${sql.raw(definition)}`.execute(db);
  if (postgres) await createTrigramIndex(db);
}

/**
 * Creates a trigram index for substrings of names, if the database server has the extension and permits its use.
 * Without the index, queries read every name.
 */
async function createTrigramIndex(db: Kysely<Rows>): Promise<void> {
  await sql`
    do $$ begin
      create extension if not exists pg_trgm;
      create index servers_name_trigrams on servers using gin (name gin_trgm_ops) where deleted = 0;
    exception when others then
      raise notice 'names have no trigram index: %', sqlerrm;
    end $$`.execute(db);
}
