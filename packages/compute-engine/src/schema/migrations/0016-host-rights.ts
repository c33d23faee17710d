import { isPostgres, type Rows } from '@apistrata/record-store';
import { type Kysely, sql } from 'kysely';

/**
 * Functions that return the host of a database role, and the data about other servers that this host may read. They are
 * `security definer` functions, because a host has no privileges on the tables that they read. The search path prevents
 * temporary tables of the caller from replacing these tables.
 */
const FUNCTIONS: readonly string[] = [
  // The host of the connected role; null for roles that are not hosts.
  `apistrata_host() returns text as $$ select host from host_roles where role = session_user $$`,
  `apistrata_keeps_volumes() returns boolean as $$
    select exists (select 1 from host_roles where role = session_user and volumes = 1) $$`,
  // Whether a server is on a host, is moving to it, or is leaving it.
  `apistrata_concerns(server text, asking text) returns boolean as $$
    select exists (select 1 from servers s where s.id = server and s.deleted = 0 and (s.host = asking or exists (
      select 1 from json_array_elements(s.data::json -> 'claims') claim where claim ->> 'host' = asking)))
    or exists (select 1 from migrations m where m.server_id = server and asking in (m.source_host, m.dest_host)
      and m.status not in ('confirmed', 'reverted', 'completed', 'cancelled', 'failed', 'error', 'done')) $$`,
  // The data that a host needs to remove the machine of a server that is no longer on the host.
  `apistrata_departed(server text) returns text as $$
    select json_build_object('id', s.id, 'host', s.host, 'deleted', s.deleted = 1, 'claims', s.data::json -> 'claims',
      'blockDevices', s.data::json -> 'blockDevices')::text from servers s where s.id = server $$`,
];

/**
 * Adds a column for the images that a request names, a table of the hosts' PostgreSQL roles, and functions that return
 * the data that a host may read about servers on other hosts.
 */
export async function up(db: Kysely<Rows>): Promise<void> {
  await db.schema.alterTable('host_orders').addColumn('image_ids', 'text').execute();
  await db.schema
    .createTable('host_roles')
    .addColumn('role', 'text', (c) => c.primaryKey())
    .addColumn('host', 'text', (c) => c.notNull())
    .addColumn('volumes', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  if (!isPostgres(db)) return;
  const { rows } = await sql<{ path: string }>`select quote_ident(current_schema()) || ', pg_temp' as path`.execute(db);
  for (const definition of FUNCTIONS) {
    const path = sql.raw(rows[0]?.path ?? 'public');
    await sql`create function ${sql.raw(definition)} language sql stable security definer set search_path = ${path}`.execute(
      db,
    );
    const signature = definition.slice(0, definition.indexOf(')') + 1).replaceAll(/(\w+) text/g, 'text');
    await sql`revoke execute on function ${sql.raw(signature)} from public`.execute(db);
  }
}
