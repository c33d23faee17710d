import { freshDatabase } from '../../../testing/fresh-database.js';
import { openStore } from '../src/schema/open-store.js';
import type { Store } from '../src/store/store.js';

export interface StoreUnderTest {
  readonly kind: 'SQLite' | 'PostgreSQL';
  /** The address of an empty database, for who opens it. */
  readonly database: () => Promise<string>;
  readonly open: () => Promise<{ store: Store; url: string; close: () => Promise<void> }>;
}

const template = { name: 'engine_tables', fill: async (url: string) => (await openStore(url)).close() };

function storesOn(kind: StoreUnderTest['kind'], database: StoreUnderTest['database']): StoreUnderTest {
  return {
    kind,
    database,
    async open() {
      const url = await database();
      const store = await openStore(url);
      return { store, url, close: () => store.close() };
    },
  };
}

/** SQLite always, PostgreSQL (a database of its own) where the machine has one. */
export function storesUnderTest(postgresUrl: string): readonly StoreUnderTest[] {
  const sqlite = storesOn('SQLite', async () => ':memory:');
  return postgresUrl ? [sqlite, storesOn('PostgreSQL', () => freshDatabase(postgresUrl, template))] : [sqlite];
}
