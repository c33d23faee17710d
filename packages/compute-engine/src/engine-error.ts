import type { CatalogErrorCode } from './catalogs/catalog-error-codes.js';
import { CodedError, type CodedErrorOptions } from './coded-error.js';

/** Every code of this package's errors, with the HTTP status that fits; those of catalogs stand beside them. */
export const errorCodes = {
  BAD_REQUEST: 400,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  NOT_SUPPORTED: 501,
  NO_VALID_HOST: 500,
  INVALID_KEY: 400,
  INVALID_PRESET: 500,
  SECRET_KEY: 500,
  SEAL: 500,
  DATABASE_UNAVAILABLE: 503,
  DATABASE_IN_USE: 500,
  DATABASE_TOO_NEW: 500,
  STALE_RECORD: 500,
  TO_BE_DONE_ALONE: 500,
  ANSWER_TOO_LARGE: 503,
  OPERATING: 500,
  HOST_IN_USE: 500,
  HOST_ORDER_ENDED: 500,
  HOST_UNREACHABLE: 503,
  SUPERSEDED: 500,
  WORKER_STOPPING: 500,
} as const;

/** Stable, so that programs may compare it; the text of a message may change. */
export type EngineErrorCode = keyof typeof errorCodes | CatalogErrorCode;

const ownStatuses: Readonly<Record<string, number>> = errorCodes;

/** What all errors of this package are: `name`, `code`, `status`, and the `url` of what the code means. */
export abstract class EngineError<Code extends EngineErrorCode = EngineErrorCode> extends CodedError<Code> {
  constructor(code: Code, message: string, options?: CodedErrorOptions) {
    super('compute-engine', code, message, { status: ownStatuses[code], ...options });
  }
}
