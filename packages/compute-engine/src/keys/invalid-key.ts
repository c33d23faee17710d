/** Something handed in as a public key or certificate is none. */
export class InvalidKey extends Error {
  override readonly name = 'InvalidKey';
  readonly code = 'INVALID_KEY';
  readonly status = 400;

  constructor(problem: string, cause?: unknown) {
    super(`Keypair data is invalid: ${problem}.`, { cause });
  }
}
