import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** Creates a PostgreSQL database; returns its URL. */
export async function freshDatabase(base: string): Promise<string> {
  const name = `router_${randomUUID().replaceAll('-', '')}`;
  const admin = new pg.Client(base);
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  return base.replace(/\/[^/]*$/, `/${name}`);
}

/**
 * Terminates every connection to a database, as a failover or an administrator would. Returns the number of
 * connections.
 */
export async function cutConnections(url: string): Promise<number> {
  const admin = new pg.Client(url.replace(/\/[^/]*$/, '/postgres'));
  await admin.connect();
  const name = url.slice(url.lastIndexOf('/') + 1);
  const { rows } = await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
    name,
  ]);
  await admin.end();
  return rows.length;
}
