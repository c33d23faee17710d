import type { StoreObserver } from '../src/observation/store-observer.js';
import type { SchemaChanges } from '../src/schema/schema-change.js';
import { openStore as openRecordStore, type Store, type StoreOptions } from '../src/store/store.js';
import { migrations } from './tables.js';

/** Opens a store with the tables of these tests. */
export function openStore(
  url: string,
  options?: StoreOptions,
  observer?: StoreObserver,
  changes: SchemaChanges = migrations,
): Promise<Store> {
  return openRecordStore(url, changes, options, observer);
}
