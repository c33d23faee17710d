import { CodedError, type CodedErrorOptions } from '@apistrata/compute-engine/api';

/** Every code of this package's errors, with the HTTP status that fits. */
export const errorCodes = {
  UNAUTHORIZED: 401,
  IDENTITY_UNAVAILABLE: 503,
  POLICY_DENIED: 403,
  POLICY_SYNTAX: 500,
  POLICY_CONFIG: 500,
  GONE: 410,
  RATE_LIMIT_EXCEEDED: 429,
} as const;

/** Stable, so that programs may compare it; the text of a message may change. */
export type ComputeRouterErrorCode = keyof typeof errorCodes;

/** What all errors of this package are: `name`, `code`, `status`, and the `url` of what the code means. */
export abstract class ComputeRouterError<
  Code extends ComputeRouterErrorCode = ComputeRouterErrorCode,
> extends CodedError<Code> {
  constructor(code: Code, message: string, options?: CodedErrorOptions) {
    super('compute-router', code, message, { status: errorCodes[code], ...options });
  }
}
