import { CatalogError } from './catalog-error.js';

/**
 * Waits for a request that releases a resource, and ignores a rejection by the catalog, which means that nothing is
 * left to release.
 *
 * @throws all other errors, such as that of an unavailable service
 */
export async function ignoreRejection<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CatalogError && error.kind !== 'unavailable') return undefined;
    throw error;
  }
}
