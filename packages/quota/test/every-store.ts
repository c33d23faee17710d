import { randomUUID } from 'node:crypto';
import { memoryStore, type QuotaStore } from '@apistrata/quota';
import { redisStore } from '@apistrata/quota/redis';
import { mysql, postgres, sqlite, sqlStore } from '@apistrata/quota/sql';
import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { inject } from 'vitest';

/** An empty store and its cleanup. */
export interface OpenedStore {
  readonly store: QuotaStore;
  readonly close: () => unknown;
}

interface StoreKind {
  readonly name: string;
  /** False if this server is not available on this machine. */
  readonly here: boolean;
  readonly open: (clock?: () => number) => Promise<OpenedStore>;
}

const placeName = () => `each_${randomUUID().slice(0, 8)}_`;

/** Every kind of store the package has, for `describe.each`. */
export const everyStore: readonly StoreKind[] = [
  { name: 'memory', here: true, open: async (clock) => ({ store: memoryStore({ clock }), close: () => undefined }) },
  { name: 'SQLite', here: true, open: openSqlite },
  { name: 'PostgreSQL', here: Boolean(inject('postgresUrl')), open: openPostgres },
  { name: 'MariaDB', here: Boolean(inject('mariadbStarter')), open: openMariadb },
  { name: 'Redis', here: Boolean(inject('redisUrl')), open: openRedis },
];

async function openSqlite(clock?: () => number): Promise<OpenedStore> {
  const connection = new Database(':memory:');
  const store = sqlStore({ database: sqlite(connection), clock });
  await store.createSchema();
  return { store, close: () => void connection.close() };
}

async function openPostgres(clock?: () => number): Promise<OpenedStore> {
  const pool = new pg.Pool({ connectionString: inject('postgresUrl'), max: 4 });
  pool.on('error', () => undefined);
  const store = sqlStore({ database: postgres(pool), tablePrefix: placeName(), clock });
  await store.createSchema();
  return { store, close: () => pool.end() };
}

/** Returns the URL of the MariaDB that all tests share, and starts it if it is not running. */
export const mariadbUrl = async (): Promise<string> => (await fetch(inject('mariadbStarter'))).text();

async function openMariadb(clock?: () => number): Promise<OpenedStore> {
  const pool = createPool({ uri: await mariadbUrl(), connectionLimit: 4 });
  const store = sqlStore({ database: mysql(pool), tablePrefix: placeName(), clock });
  await store.createSchema();
  return { store, close: () => pool.end() };
}

async function openRedis(clock?: () => number): Promise<OpenedStore> {
  const client = new Redis(inject('redisUrl')!);
  return { store: redisStore({ client, keyPrefix: `{${placeName()}}:`, clock }), close: () => client.quit() };
}
