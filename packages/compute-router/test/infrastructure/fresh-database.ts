import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** Creates a PostgreSQL database that nobody else uses, beside the one given; its URL. */
export async function freshDatabase(url: string): Promise<string> {
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return url.replace(/\/[^/]*$/, `/${name}`);
}
