import { EngineError } from '../errors/engine-error.js';

/** Thrown if a secret key is missing or invalid. The message names the fix and does not reveal the key. */
export class SecretKeyError extends EngineError<'SECRET_KEY'> {
  constructor(message: string) {
    super('SECRET_KEY', message);
  }
}
