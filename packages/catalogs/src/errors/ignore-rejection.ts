import { CatalogError } from './catalog-error.js';

/**
 * Ignores rejections by a catalog, which mean that there is nothing to release. An unavailable service is still an
 * error.
 */
export async function ignoreRejection<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CatalogError && error.kind !== 'unavailable') return undefined;
    throw error;
  }
}
