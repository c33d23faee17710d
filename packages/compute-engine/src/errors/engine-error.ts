import { CodedError, type CodedErrorOptions } from '@apistrata/record-store/errors';

/** Every error code of this package, with the corresponding HTTP status. */
export const errorCodes = {
  BAD_REQUEST: 400,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  NOT_SUPPORTED: 501,
  NO_VALID_HOST: 500,
  PRE_CHECK_FAILED: 500,
  INVALID_KEY: 400,
  INVALID_PRESET: 500,
  SECRET_KEY: 500,
  DECRYPTION_FAILED: 500,
  MAINTENANCE_FAILED: 500,
  HOST_IN_USE: 500,
  HOST_REQUEST_ENDED: 500,
  HOST_UNREACHABLE: 503,
  SUPERSEDED: 500,
  WEBHOOK_REJECTED: 500,
  WORKER_STOPPING: 500,
} as const;

/** The code of an error. Codes are stable, so programs may compare them; messages may change. */
export type EngineErrorCode = keyof typeof errorCodes;

/**
 * The base class of all errors of this package. Errors have a `name`, a `code`, a `status`, and the `url` of the code's
 * documentation.
 */
export abstract class EngineError<Code extends EngineErrorCode = EngineErrorCode> extends CodedError<Code> {
  constructor(code: Code, message: string, options?: CodedErrorOptions) {
    super('compute-engine', code, message, { status: errorCodes[code], ...options });
  }
}
