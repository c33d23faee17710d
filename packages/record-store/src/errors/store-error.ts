import { CodedError, type CodedErrorOptions } from './coded-error.js';

/** All error codes of the store, with their HTTP statuses. */
export const storeErrorCodes = {
  DATABASE_UNAVAILABLE: 503,
  DATABASE_IN_USE: 500,
  DATABASE_TOO_NEW: 500,
  STALE_RECORD: 500,
  BATCH_CONFLICT: 500,
} as const;

/** Stable error code for comparisons; the text of a message may change. */
export type StoreErrorCode = keyof typeof storeErrorCodes;

/** The base class of all errors of the store: `name`, `code`, `status`, and the `url` of the code's documentation. */
export abstract class StoreError<Code extends StoreErrorCode = StoreErrorCode> extends CodedError<Code> {
  constructor(code: Code, message: string, options?: CodedErrorOptions) {
    super('record-store', code, message, { status: storeErrorCodes[code], ...options });
  }
}
