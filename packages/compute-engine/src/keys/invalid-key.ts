import { EngineError } from '../errors/engine-error.js';

/** Thrown for a value that is not a valid public key or certificate. */
export class InvalidKey extends EngineError<'INVALID_KEY'> {
  constructor(problem: string, cause?: unknown) {
    super('INVALID_KEY', `Keypair data is invalid: ${problem}.`, { cause });
  }
}
