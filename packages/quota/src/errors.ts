import type { ExceededLimit } from './limits.js';

/** All error codes in this package, with their HTTP statuses. */
export const errorCodes = {
  QUOTA_EXCEEDED: 403,
  QUOTA_INVALID: 400,
  QUOTA_RESERVATION_ENDED: 409,
  QUOTA_STORE_UNAVAILABLE: 503,
  IDENTITY_UNKNOWN: 401,
  REQUEST_REJECTED: 400,
  NUMBER_INEXACT: 400,
  CLIENT_DISCONNECTED: 400,
} as const;

/** An error code. Codes are stable, so that programs can compare them; the text of messages may change. */
export type QuotaErrorCode = keyof typeof errorCodes;

/** Options of an error: its `cause`, and an HTTP status that overrides the default status of the error code. */
interface QuotaErrorOptions extends ErrorOptions {
  readonly status?: number;
}

/**
 * Base class of all errors in this package, with `name`, `code`, HTTP `status`, and the `url` of the error code's
 * documentation.
 */
export abstract class QuotaError extends Error {
  /** The HTTP response status. */
  readonly status: number;
  /** The URL of the page that documents the cause and the fix. It is for developers and never part of a response. */
  readonly url: string;

  constructor(
    readonly code: QuotaErrorCode,
    message: string,
    options?: QuotaErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
    this.status = options?.status ?? errorCodes[code];
    this.url = `https://github.com/apistrata/apistrata/blob/main/docs/errors.md#quota-${code.toLowerCase()}`;
  }

  override toString(): string {
    return `${super.toString()} (${this.url})`;
  }
}

/** The error of a request that exceeds a limit. `details` contains the amounts and limits; the message names only the kinds. */
export class QuotaExceeded extends QuotaError {
  readonly details: readonly ExceededLimit[];

  /** @param status 403, or 429 if the service uses that status for exceeded quotas */
  constructor(details: readonly ExceededLimit[], status = 403) {
    super('QUOTA_EXCEEDED', `Quota exceeded for ${details.map(({ kind }) => kind).join(', ')}`, { status });
    this.details = details;
  }
}

/** The error for an unknown resource kind, an invalid amount or limit, or an invalid project id. */
export class InvalidQuota extends QuotaError {
  constructor(message: string, options?: ErrorOptions) {
    super('QUOTA_INVALID', message, options);
  }
}

/** The error for a reservation that was already settled or has expired. If it has expired, its amounts are available again. */
export class ReservationEnded extends QuotaError {
  constructor(readonly id: string) {
    super('QUOTA_RESERVATION_ENDED', `Reservation ${id} is settled or expired`);
  }
}

/** The error of a store that failed or exceeded its timeout; `cause` is the store's error. */
export class QuotaStoreError extends QuotaError {
  constructor(message: string, options?: ErrorOptions) {
    super('QUOTA_STORE_UNAVAILABLE', message, options);
  }
}
