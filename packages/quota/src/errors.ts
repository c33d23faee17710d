import type { Excess } from './limits.js';

/** All error codes of this package, with the corresponding HTTP status. */
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

/** The `cause` of an error, and its status if it differs from the code's status. */
interface QuotaErrorOptions extends ErrorOptions {
  readonly status?: number;
}

/**
 * Base class of all errors of this package: `name`, `code`, the corresponding HTTP `status`, and the `url` of the
 * documentation.
 */
export abstract class QuotaError extends Error {
  /** The status of the HTTP response. */
  readonly status: number;
  /** The page that documents the cause and the fix. It is for developers and never part of a response. */
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

/** The request exceeds a limit. `details` contains the amounts and limits; the message contains only the kinds. */
export class QuotaExceeded extends QuotaError {
  readonly details: readonly Excess[];

  /** @param status 403, or 429 if the service uses it for quotas */
  constructor(details: readonly Excess[], status = 403) {
    super('QUOTA_EXCEEDED', `Quota exceeded for ${details.map(({ kind }) => kind).join(', ')}`, { status });
    this.details = details;
  }
}

/** An unknown kind, an invalid amount or limit, or an invalid project id. */
export class InvalidQuota extends QuotaError {
  constructor(message: string, options?: ErrorOptions) {
    super('QUOTA_INVALID', message, options);
  }
}

/** The reservation is already settled or has expired, so that its amounts are available again. */
export class ReservationEnded extends QuotaError {
  constructor(readonly id: string) {
    super('QUOTA_RESERVATION_ENDED', `Reservation ${id} is settled or expired`);
  }
}

/** The store failed or exceeded its timeout; `cause` is the error of the store. */
export class QuotaStoreError extends QuotaError {
  constructor(message: string, options?: ErrorOptions) {
    super('QUOTA_STORE_UNAVAILABLE', message, options);
  }
}
