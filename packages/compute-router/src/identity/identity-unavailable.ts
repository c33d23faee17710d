/** Who is calling cannot be found out now: the identity service does not answer, or not as it should. */
export class IdentityUnavailable extends Error {
  readonly code = 'IDENTITY_UNAVAILABLE';
  readonly status = 503;
  readonly docs = 'docs/policies.md#identity';

  constructor(problem: string, cause?: unknown) {
    super(`The identity service is unavailable: ${problem}.`, { cause });
    this.name = 'IdentityUnavailable';
  }
}
