import { freshDatabase } from './fresh-database.js';

interface Closable {
  close(): Promise<void>;
}

/** A kind of database that a suite runs on. */
export interface StoreUnderTest<S extends Closable> {
  readonly kind: 'SQLite' | 'PostgreSQL';
  /** Returns the address of an empty database. */
  readonly database: () => Promise<string>;
  readonly open: () => Promise<{ store: S; url: string; close: () => Promise<void> }>;
}

/**
 * Returns the databases that a suite runs on: SQLite, and PostgreSQL if an address is given.
 *
 * @param name a name for the tables that `openStore` creates: PostgreSQL databases are copies of one that has them
 */
export function storesOf<S extends Closable>(
  postgresUrl: string,
  name: string,
  openStore: (url: string) => Promise<S>,
): readonly StoreUnderTest<S>[] {
  const on = (kind: StoreUnderTest<S>['kind'], database: () => Promise<string>): StoreUnderTest<S> => ({
    kind,
    database,
    async open() {
      const url = await database();
      const store = await openStore(url);
      return { store, url, close: () => store.close() };
    },
  });
  const template = { name, fill: async (url: string) => (await openStore(url)).close() };
  const sqlite = on('SQLite', async () => ':memory:');
  return postgresUrl ? [sqlite, on('PostgreSQL', () => freshDatabase(postgresUrl, template))] : [sqlite];
}
