import { type StoreUnderTest as AnyStoreUnderTest, storesOf } from '../../../testing/stores.js';
import type { Store } from '../src/store/store.js';
import { openStore } from './open-store.js';

export type StoreUnderTest = AnyStoreUnderTest<Store>;

/** Returns functions that open a SQLite database and, if PostgreSQL is installed, a separate PostgreSQL database. */
export const storesUnderTest = (postgresUrl: string) =>
  storesOf(postgresUrl, 'record_store_tables', (url) => openStore(url));
