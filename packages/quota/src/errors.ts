import type { Excess } from './limits.js';

/** What all errors of this package share: a stable `code` and the HTTP `status` that fits. */
export abstract class QuotaError extends Error {
  abstract readonly code: string;
  abstract readonly status: number;
  /** Where the README explains it. */
  readonly docs = '@apistrata/quota/README.md#errors';
}

/** A request does not fit in the limits. `details` says which ones; the message names the kinds only. */
export class QuotaExceeded extends QuotaError {
  override readonly name = 'QuotaExceeded';
  readonly code = 'QUOTA_EXCEEDED';
  readonly status: number;
  readonly details: readonly Excess[];

  /** @param status 403 unless the service answers 429 */
  constructor(details: readonly Excess[], status = 403) {
    super(`Quota exceeded for ${details.map(({ kind }) => kind).join(', ')}`);
    this.details = details;
    this.status = status;
  }
}

/** The caller named an unknown kind, an impossible amount or limit, or an unusable project id. */
export class InvalidQuota extends QuotaError {
  override readonly name = 'InvalidQuota';
  readonly code = 'QUOTA_INVALID';
  readonly status = 400;
}

/** A reservation was settled already, or its time-to-live ended before it was: what it held is free again. */
export class ReservationGone extends QuotaError {
  override readonly name = 'ReservationGone';
  readonly code = 'QUOTA_RESERVATION_GONE';
  readonly status = 409;

  constructor(readonly id: string) {
    super(`Reservation ${id} is settled or expired`);
  }
}

/** The store failed or did not answer in time; `cause` is its own error. */
export class QuotaStoreError extends QuotaError {
  override readonly name = 'QuotaStoreError';
  readonly code = 'QUOTA_STORE_UNAVAILABLE';
  readonly status = 503;
}
