import { ComputeRouterError } from '../errors.js';

/** Who is calling cannot be found out now: the identity service does not answer, or not as it should. */
export class IdentityUnavailable extends ComputeRouterError<'IDENTITY_UNAVAILABLE'> {
  /** @param problem what is wrong, or the error that says so in a sentence */
  constructor(problem: string | Error) {
    const told = typeof problem === 'string';
    super('IDENTITY_UNAVAILABLE', told ? `The identity service is unavailable: ${problem}.` : problem.message, {
      cause: told ? undefined : problem.cause,
    });
  }
}
