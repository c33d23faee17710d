import { openStore, type Store } from '@apistrata/record-store';
import { type StoreUnderTest as AnyStoreUnderTest, storesOf } from '../../../testing/stores.js';
import { catalogChanges } from '../src/schema/catalog-changes.js';

export type StoreUnderTest = AnyStoreUnderTest<Store>;

/** Returns functions that open a SQLite database and, if PostgreSQL is installed, a separate PostgreSQL database. */
export const storesUnderTest = (postgresUrl: string) =>
  storesOf(postgresUrl, 'catalogs_tables', (url) => openStore(url, catalogChanges));
