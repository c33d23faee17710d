import type { Excess } from './limits.js';

/** Every code of this package's errors, with the HTTP status that fits. */
export const errorCodes = {
  QUOTA_EXCEEDED: 403,
  QUOTA_INVALID: 400,
  QUOTA_RESERVATION_GONE: 409,
  QUOTA_STORE_UNAVAILABLE: 503,
  IDENTITY_UNKNOWN: 401,
  REQUEST_REFUSED: 400,
  NUMBER_INEXACT: 400,
  CLIENT_GONE: 400,
} as const;

/** Stable, so that programs may compare it; the text of a message may change. */
export type QuotaErrorCode = keyof typeof errorCodes;

/** More than a code and a message: the `cause`, and a status other than the code's own. */
interface QuotaErrorOptions extends ErrorOptions {
  readonly status?: number;
}

/** What all errors of this package are: `name`, `code`, the HTTP `status` that fits, and the `url` of what the code means. */
export abstract class QuotaError extends Error {
  readonly status: number;
  /** The page that tells cause and cure; for developers, never part of an answer. */
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

/** A request does not fit in the limits. `details` says which ones; the message names the kinds only. */
export class QuotaExceeded extends QuotaError {
  readonly details: readonly Excess[];

  /** @param status 403 unless the service answers 429 */
  constructor(details: readonly Excess[], status = 403) {
    super('QUOTA_EXCEEDED', `Quota exceeded for ${details.map(({ kind }) => kind).join(', ')}`, { status });
    this.details = details;
  }
}

/** The caller named an unknown kind, an impossible amount or limit, or an unusable project id. */
export class InvalidQuota extends QuotaError {
  constructor(message: string, options?: ErrorOptions) {
    super('QUOTA_INVALID', message, options);
  }
}

/** A reservation was settled already, or its time-to-live ended before it was: what it held is free again. */
export class ReservationGone extends QuotaError {
  constructor(readonly id: string) {
    super('QUOTA_RESERVATION_GONE', `Reservation ${id} is settled or expired`);
  }
}

/** The store failed or did not answer in time; `cause` is its own error. */
export class QuotaStoreError extends QuotaError {
  constructor(message: string, options?: ErrorOptions) {
    super('QUOTA_STORE_UNAVAILABLE', message, options);
  }
}
