import { ReservationEnded } from './errors.js';
import { type Amounts, isZeroAmount } from './limits.js';
import type { MaybePromise, StoredReservation } from './store.js';

/** The calls of a reservation to its store; each rejects with QuotaStoreError if the store fails. */
export interface ReservationCalls {
  settle(hold: StoredReservation, outcome: 'commit' | 'release'): MaybePromise<boolean>;
  renew(hold: StoredReservation, ttlMs: number): MaybePromise<boolean>;
}

type State = 'held' | 'committed' | 'released';

/**
 * Amounts that are taken until they are committed or released. Without `commit()` they are available again after
 * the time-to-live, so a process that dies does not leak usage.
 */
export class Reservation {
  readonly id: string;
  readonly project: string;
  /** The reserved amounts by kind; amounts of 0 are omitted. */
  readonly amounts: Amounts;
  /** Milliseconds from creation or the last renewal until expiry. */
  readonly ttlMs: number;
  readonly #keeper: ReservationCalls;
  #state: State = 'held';

  constructor(hold: StoredReservation, ttlMs: number, keeper: ReservationCalls) {
    this.id = hold.id;
    this.project = hold.project;
    this.amounts = hold.amounts;
    this.ttlMs = ttlMs;
    this.#keeper = keeper;
  }

  /** True until it is committed or released here. It may have expired in the meantime. */
  get open(): boolean {
    return this.#state === 'held';
  }

  /**
   * Turns the reserved amounts into used ones. Idempotent.
   *
   * @throws ReservationEnded if it was released or has expired
   * @throws QuotaStoreError if the store fails; the call may be repeated
   */
  async commit(): Promise<void> {
    if (this.#state === 'committed') return;
    if (this.#state === 'released') throw new ReservationEnded(this.id);
    const settled = isZeroAmount(this.amounts) || this.#keeper.settle(this, 'commit');
    const done = settled instanceof Promise ? await settled : settled;
    this.#state = done ? 'committed' : 'released';
    if (!done) throw new ReservationEnded(this.id);
  }

  /**
   * Frees the amounts. No-op after `commit()`, so it may be called in a `finally` block.
   *
   * @throws QuotaStoreError if the store fails; the amounts are available again after the time-to-live
   */
  async release(): Promise<void> {
    if (this.#state !== 'held') return;
    if (!isZeroAmount(this.amounts)) await this.#keeper.settle(this, 'release');
    this.#state = 'released';
  }

  /**
   * Restarts the time-to-live, for work that takes longer.
   *
   * @throws ReservationEnded if it was settled or has expired
   * @throws QuotaStoreError if the store fails
   */
  async renew(): Promise<void> {
    const renewed =
      this.#state === 'held' && (isZeroAmount(this.amounts) || (await this.#keeper.renew(this, this.ttlMs)));
    if (!renewed) throw new ReservationEnded(this.id);
  }
}
