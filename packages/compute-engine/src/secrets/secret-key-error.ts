import { EngineError } from '../errors/engine-error.js';

/** A secret key is missing, or is none. The message says what to do, and nothing of the key. */
export class SecretKeyError extends EngineError<'SECRET_KEY'> {
  constructor(message: string) {
    super('SECRET_KEY', message);
  }
}
