import { CatalogError } from '@apistrata/catalogs';
import { badRequest } from '../../errors/rejection.js';

/** Converts a catalog's error for an address in use to a 400 error, and throws all other errors unchanged. */
export function throwAddressError(error: unknown): never {
  if (error instanceof CatalogError && error.code === 'NO_FREE_ADDRESS') throw badRequest(error.message);
  throw error;
}
