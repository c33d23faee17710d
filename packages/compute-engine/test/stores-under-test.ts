import { freshDatabase } from '../../../testing/fresh-database.js';
import { openStore, type Store } from '../src/store/store.js';

export interface StoreUnderTest {
  readonly kind: 'SQLite' | 'PostgreSQL';
  readonly open: () => Promise<{ store: Store; url: string; close: () => Promise<void> }>;
}

const template = { name: 'engine_tables', fill: async (url: string) => (await openStore(url)).close() };

async function openPostgres(server: string): ReturnType<StoreUnderTest['open']> {
  const url = await freshDatabase(server, template);
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
