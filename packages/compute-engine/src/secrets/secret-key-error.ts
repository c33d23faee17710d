/** A secret key is missing, or is none. The message says what to do, and nothing of the key. */
export class SecretKeyError extends Error {
  readonly code = 'SECRET_KEY';
}
