import pg from 'pg';
import { importTypeScript } from './typescript-modules.mjs';

const { Client } = pg;

/** Imports the module that starts the servers of the tests. */
export const testServers = () => importTypeScript('testing/servers');

const SETTINGS = ['fsync', 'synchronous_commit', 'full_page_writes', 'wal_sync_method', 'shared_buffers'];

/** Returns a row with the settings of a PostgreSQL server that affect its speed. */
export async function settingsOf(url) {
  const client = new Client({ connectionString: url });
  await client.connect();
  const shown = [];
  for (const name of SETTINGS) shown.push(`${name}=${Object.values((await client.query(`show ${name}`)).rows[0])[0]}`);
  await client.end();
  return { what: `PostgreSQL: ${shown.join(', ')}` };
}

/**
 * Starts a PostgreSQL server with default durability settings. Returns undefined if PostgreSQL is not installed.
 *
 * @returns the server, and a row with its settings
 */
export async function durablePostgres() {
  const { startPostgres } = await testServers();
  const postgres = await startPostgres(undefined, []);
  if (!postgres) return undefined;
  return { ...postgres, settings: await settingsOf(postgres.url) };
}

/** Imports the module that starts a PostgreSQL primary and its standby: `testing/postgres-pair.ts`. */
export const postgresPairs = () => importTypeScript('testing/postgres-pair');
