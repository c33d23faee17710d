import { ReservationEnded } from './errors.js';
import { type Amounts, hasNoAmounts } from './limits.js';
import type { MaybePromise, StoredReservation } from './store.js';

/** The store operations that a reservation uses. They reject with QuotaStoreError if the store fails. */
export interface ReservationCalls {
  settle(reservation: StoredReservation, outcome: 'commit' | 'release'): MaybePromise<boolean>;
  renew(reservation: StoredReservation, ttlMs: number): MaybePromise<boolean>;
}

type ReservationState = 'open' | 'committed' | 'released';

/**
 * Amounts that are reserved until they are committed or released. Without `commit()`, they become available again after
 * the time-to-live, so that a process that crashes does not leak usage.
 */
export class Reservation {
  readonly id: string;
  readonly project: string;
  /** The reserved amounts by kind; amounts of 0 are omitted. */
  readonly amounts: Amounts;
  /** The time-to-live in milliseconds, which starts at the creation or last renewal. */
  readonly ttlMs: number;
  readonly #calls: ReservationCalls;
  #state: ReservationState = 'open';

  constructor(reservation: StoredReservation, ttlMs: number, calls: ReservationCalls) {
    this.id = reservation.id;
    this.project = reservation.project;
    this.amounts = reservation.amounts;
    this.ttlMs = ttlMs;
    this.#calls = calls;
  }

  /**
   * Whether this object has neither committed nor released the reservation. Also true if the reservation has expired
   * since.
   */
  get open(): boolean {
    return this.#state === 'open';
  }

  /**
   * Converts the reserved amounts to used amounts. Idempotent.
   *
   * @throws ReservationEnded if the reservation was released or has expired
   * @throws QuotaStoreError if the store fails; the call may be retried
   */
  async commit(): Promise<void> {
    if (this.#state === 'committed') return;
    if (this.#state === 'released') throw new ReservationEnded(this.id);
    const settleResult = hasNoAmounts(this.amounts) || this.#calls.settle(this, 'commit');
    const isSettled = settleResult instanceof Promise ? await settleResult : settleResult;
    this.#state = isSettled ? 'committed' : 'released';
    if (!isSettled) throw new ReservationEnded(this.id);
  }

  /**
   * Frees the reserved amounts. No-op after `commit()`, so it may be called in a `finally` block.
   *
   * @throws QuotaStoreError if the store fails; the amounts are available again after the time-to-live
   */
  async release(): Promise<void> {
    if (this.#state !== 'open') return;
    if (!hasNoAmounts(this.amounts)) await this.#calls.settle(this, 'release');
    this.#state = 'released';
  }

  /**
   * Restarts the time-to-live, for work that takes longer than that.
   *
   * @throws ReservationEnded if the reservation was settled or has expired
   * @throws QuotaStoreError if the store fails
   */
  async renew(): Promise<void> {
    const isRenewed =
      this.#state === 'open' && (hasNoAmounts(this.amounts) || (await this.#calls.renew(this, this.ttlMs)));
    if (!isRenewed) throw new ReservationEnded(this.id);
  }
}
