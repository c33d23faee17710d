import { EngineError } from '@apistrata/compute-engine';

/** For `.catch()`: nothing where there is no such thing for whoever asks. All else that goes wrong stays an error. */
export function ifMissing(error: unknown): undefined {
  if (error instanceof EngineError && error.status === 404) return undefined;
  throw error;
}
