import { ReservationGone } from './errors.js';
import { type Amounts, isNothing } from './limits.js';
import type { Hold, MaybePromise } from './store.js';

/** How a reservation reaches its store; each fails with QuotaStoreError where the store fails. */
export interface HoldKeeper {
  settle(hold: Hold, outcome: 'commit' | 'release'): MaybePromise<boolean>;
  renew(hold: Hold, ttlMs: number): MaybePromise<boolean>;
}

type State = 'held' | 'committed' | 'released';

/**
 * Amounts that are taken but not used for good yet. Without `commit()` they are free again after the time-to-live, so
 * a process that dies leaks nothing.
 */
export class Reservation {
  readonly id: string;
  readonly project: string;
  /** What it holds, by kind; kinds of which nothing was asked are left out. */
  readonly amounts: Amounts;
  /** Milliseconds from its making, or its last renewal, until it ends by itself. */
  readonly ttlMs: number;
  readonly #keeper: HoldKeeper;
  #state: State = 'held';

  constructor(hold: Hold, ttlMs: number, keeper: HoldKeeper) {
    this.id = hold.id;
    this.project = hold.project;
    this.amounts = hold.amounts;
    this.ttlMs = ttlMs;
    this.#keeper = keeper;
  }

  /** Whether it was neither committed nor released here. It may have expired all the same. */
  get open(): boolean {
    return this.#state === 'held';
  }

  /**
   * Makes the amounts used for good. Again is no error.
   *
   * @throws ReservationGone when it was released or has expired
   * @throws QuotaStoreError when the store fails; then it may be tried again
   */
  async commit(): Promise<void> {
    if (this.#state === 'committed') return;
    if (this.#state === 'released') throw new ReservationGone(this.id);
    const settled = isNothing(this.amounts) || this.#keeper.settle(this, 'commit');
    const done = settled instanceof Promise ? await settled : settled;
    this.#state = done ? 'committed' : 'released';
    if (!done) throw new ReservationGone(this.id);
  }

  /**
   * Frees the amounts. Does nothing after `commit()`, so it may stand in a `finally`.
   *
   * @throws QuotaStoreError when the store fails; the time-to-live frees them then
   */
  async release(): Promise<void> {
    if (this.#state !== 'held') return;
    if (!isNothing(this.amounts)) await this.#keeper.settle(this, 'release');
    this.#state = 'released';
  }

  /**
   * Starts the time-to-live anew, for work that takes longer.
   *
   * @throws ReservationGone when it was settled or has expired
   * @throws QuotaStoreError when the store fails
   */
  async renew(): Promise<void> {
    const renewed = this.#state === 'held' && (isNothing(this.amounts) || (await this.#keeper.renew(this, this.ttlMs)));
    if (!renewed) throw new ReservationGone(this.id);
  }
}
