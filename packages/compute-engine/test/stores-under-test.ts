import type { Store } from '@apistrata/record-store';
import { type StoreUnderTest as AnyStoreUnderTest, storesOf } from '../../../testing/stores.js';
import { openStore } from '../src/schema/open-store.js';

export type StoreUnderTest = AnyStoreUnderTest<Store>;

/** Returns SQLite, and PostgreSQL (a separate database) if it is installed. */
export const storesUnderTest = (postgresUrl: string) => storesOf(postgresUrl, 'engine_tables', (url) => openStore(url));
