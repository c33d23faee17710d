import { CodedError, type CodedErrorOptions } from '@apistrata/compute-engine/api';

/** All error codes of this package, with the HTTP status for each code. */
export const errorCodes = {
  UNAUTHORIZED: 401,
  IDENTITY_UNAVAILABLE: 503,
  POLICY_DENIED: 403,
  POLICY_SYNTAX: 500,
  POLICY_CONFIG: 500,
  GONE: 410,
  RATE_LIMIT_EXCEEDED: 429,
} as const;

/** Stable error code. Compare codes instead of messages, because the text of messages may change. */
export type ComputeRouterErrorCode = keyof typeof errorCodes;

/** Base class of all errors that this package throws. `url` is the address of the documentation for the error code. */
export abstract class ComputeRouterError<
  Code extends ComputeRouterErrorCode = ComputeRouterErrorCode,
> extends CodedError<Code> {
  constructor(code: Code, message: string, options?: CodedErrorOptions) {
    super('compute-router', code, message, { status: errorCodes[code], ...options });
  }
}
