import { CatalogError } from './catalog-error.js';

/** What the catalog may refuse without harm: there is nothing to be given back. Only its being away counts. */
export async function unlessRefused<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CatalogError && error.kind !== 'unavailable') return undefined;
    throw error;
  }
}
