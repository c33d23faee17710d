import { CodedError } from '@apistrata/compute-engine/api';

/** For `.catch()`: nothing where there is no such thing for whoever asks. All else that goes wrong stays an error. */
export function ifMissing(error: unknown): undefined {
  if (error instanceof CodedError && error.status === 404) return undefined;
  throw error;
}
