import { CodedError, type CodedErrorOptions } from './coded-error.js';

/** The store's error codes, with their HTTP statuses. */
export const storeErrorCodes = {
  DATABASE_UNAVAILABLE: 503,
  DATABASE_IN_USE: 500,
  DATABASE_TOO_NEW: 500,
  STALE_RECORD: 500,
  BATCH_CONFLICT: 500,
} as const;

/** A stable error code for comparisons. The text of a message may change. */
export type StoreErrorCode = keyof typeof storeErrorCodes;

/**
 * Base class for the store's errors, with a `name`, a `code`, a `status`, and the `url` of the code's documentation.
 */
export abstract class StoreError<Code extends StoreErrorCode = StoreErrorCode> extends CodedError<Code> {
  constructor(code: Code, message: string, options?: CodedErrorOptions) {
    super('record-store', code, message, { status: storeErrorCodes[code], ...options });
  }
}
