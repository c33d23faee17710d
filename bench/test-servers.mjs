import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import ts from 'typescript';

const { Client } = pg;

const RELATIVE = /(?<=from ')\.\/([\w-]+)\.js(?=')/g;

/** Compiles a test module and the local modules that it imports for this Node version. Returns its `data:` URL. */
function urlOf(name) {
  const source = readFileSync(join(import.meta.dirname, `../testing/${name}.ts`), 'utf8');
  const options = { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } };
  const { outputText } = ts.transpileModule(source, options);
  const linked = outputText.replace(RELATIVE, (_, other) => urlOf(other));
  return `data:text/javascript;base64,${Buffer.from(linked).toString('base64')}`;
}

/** Imports the module that starts the servers of the tests. It is TypeScript, which this Node may not support. */
export const testServers = () => import(urlOf('servers'));

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
export const postgresPairs = () => import(urlOf('postgres-pair'));
