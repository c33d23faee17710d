import { CatalogError } from '@apistrata/catalogs';
import { badRequest } from '../../errors/refusal.js';

/** An address that is not free is a conflict to the catalog, and a bad request to this API. */
export function addressAsBadRequest(error: unknown): never {
  if (error instanceof CatalogError && error.code === 'NO_FREE_ADDRESS') throw badRequest(error.message);
  throw error;
}
