import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { openStore, type Store } from '../src/store/store.js';

export interface StoreUnderTest {
  readonly kind: string;
  readonly open: () => Promise<{ store: Store; url: string; close: () => Promise<void> }>;
}

async function openPostgres(base: string): ReturnType<StoreUnderTest['open']> {
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  const admin = new pg.Client(base);
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const url = base.replace(/\/[^/]*$/, `/${name}`);
  const store = await openStore(url);
  return { store, url, close: () => store.close() };
}

/** SQLite always, PostgreSQL (a database of its own) where the machine has one. */
export function storesUnderTest(postgresUrl: string): readonly StoreUnderTest[] {
  const sqlite: StoreUnderTest = {
    kind: 'SQLite',
    open: async () => {
      const store = await openStore(':memory:');
      return { store, url: ':memory:', close: () => store.close() };
    },
  };
  return postgresUrl ? [sqlite, { kind: 'PostgreSQL', open: () => openPostgres(postgresUrl) }] : [sqlite];
}
