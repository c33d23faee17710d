import { CodedError } from '@apistrata/compute-engine/api';

/** For `.catch()`: returns undefined for a resource that does not exist for the caller, and rethrows other errors. */
export function ifMissing(error: unknown): undefined {
  if (error instanceof CodedError && error.status === 404) return undefined;
  throw error;
}
