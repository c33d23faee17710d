import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** The initial content of every new database; copying it is faster than creating it each time. */
export interface Template {
  readonly name: string;
  /** Fills the empty database at this URL, once per run, and leaves no connection open. */
  readonly fill: (url: string) => Promise<void>;
}

/**
 * Creates a database for exclusive use on the PostgreSQL server at this URL. It is empty or a copy of the template, and
 * is removed with the server at the end of the run.
 */
export async function freshDatabase(server: string, template?: Template): Promise<string> {
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  await withClient(server, async (client) => {
    if (template) await createTemplate(client, server, template);
    await client.query(`create database ${name} template ${template?.name ?? 'template1'}`);
  });
  return urlOf(server, name);
}

/** Removes all rows of a database, which is faster than creating another one; returns its URL. */
export async function emptyDatabase(url: string): Promise<string> {
  await withClient(url, (client) => client.query(EMPTY));
  return url;
}

const EMPTY = `do $$
declare one record;
begin
  for one in select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely%' loop
    execute format('delete from %I', one.tablename);
  end loop;
  for one in select sequencename from pg_sequences where schemaname = 'public' loop
    execute format('alter sequence %I restart', one.sequencename);
  end loop;
end $$`;

/** Test files run in separate processes: the first one that needs the template creates it, the others wait. */
async function createTemplate(client: pg.Client, server: string, { name, fill }: Template): Promise<void> {
  await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount) return;
    // Renamed only when it is complete.
    await client.query(`drop database if exists ${name}_draft with (force)`);
    await client.query(`create database ${name}_draft`);
    await fill(urlOf(server, `${name}_draft`));
    await client.query(`alter database ${name}_draft rename to ${name}`);
  } finally {
    await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]);
  }
}

async function withClient(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function urlOf(server: string, name: string): string {
  return server.replace(/\/[^/]*$/, `/${name}`);
}
