import { EngineError } from '../errors/engine-error.js';

/** Something handed in as a public key or certificate is none. */
export class InvalidKey extends EngineError<'INVALID_KEY'> {
  constructor(problem: string, cause?: unknown) {
    super('INVALID_KEY', `Keypair data is invalid: ${problem}.`, { cause });
  }
}
