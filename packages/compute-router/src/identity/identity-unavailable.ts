import { ComputeRouterError } from '../errors.js';

/**
 * Thrown if a caller cannot be authenticated because the identity service does not respond or returns an unexpected
 * response.
 */
export class IdentityUnavailable extends ComputeRouterError<'IDENTITY_UNAVAILABLE'> {
  /** @param problem a description of the problem, or an error whose message is a sentence */
  constructor(problem: string | Error) {
    const isText = typeof problem === 'string';
    super('IDENTITY_UNAVAILABLE', isText ? `The identity service is unavailable: ${problem}.` : problem.message, {
      cause: isText ? undefined : problem.cause,
    });
  }
}
