/** Who is calling cannot be found out now: the identity service does not answer, or not as it should. */
export class IdentityUnavailable extends Error {
  readonly code = 'IDENTITY_UNAVAILABLE';
  readonly status = 503;
  readonly docs = 'docs/policies.md#identity';

  /** @param problem what is wrong, or the error that says so in a sentence */
  constructor(problem: string | Error) {
    super(typeof problem === 'string' ? `The identity service is unavailable: ${problem}.` : problem.message, {
      cause: typeof problem === 'string' ? undefined : problem.cause,
    });
    this.name = 'IdentityUnavailable';
  }
}
