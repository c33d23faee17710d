import {
  openStore as openRecordStore,
  type SchemaChanges,
  type Store,
  type StoreObserver,
  type StoreOptions,
} from '@apistrata/record-store';
import { migrations } from './migrations/index.js';

/**
 * Opens a store with the engine's tables, like the record store's `openStore`.
 * @param changes the known schema changes; only upgrade tests pass others
 */
export function openStore(
  url: string,
  options?: StoreOptions,
  observer?: StoreObserver,
  changes: SchemaChanges = migrations,
): Promise<Store> {
  return openRecordStore(url, changes, options, observer);
}
