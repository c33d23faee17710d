import { CodedError } from '@apistrata/compute-engine/api';

/** A handler for `.catch()` that returns undefined if the caller cannot see the resource, and rethrows other errors. */
export function ifMissing(error: unknown): undefined {
  if (error instanceof CodedError && error.status === 404) return undefined;
  throw error;
}
