import { Deadlines } from './deadlines.js';
import { QuotaError, QuotaStoreError, ReservationEnded } from './errors.js';
import type { ExceededLimit } from './limits.js';
import type { ReservationCalls } from './reservation.js';
import type { MaybePromise, QuotaStore, ReserveRequest, StoredReservation } from './store.js';

/** Calls a store with a timeout, and converts every failure to a QuotaStoreError. */
export class StoreCaller implements ReservationCalls {
  readonly store: QuotaStore;
  readonly #consume: QuotaStore['consume'];
  readonly #timeoutMs: number;
  readonly #deadlines: Deadlines;

  constructor(store: QuotaStore, timeoutMs: number) {
    this.store = store;
    this.#consume = store.consume?.bind(store);
    this.#timeoutMs = timeoutMs;
    this.#deadlines = new Deadlines(timeoutMs);
  }

  /**
   * Calls the store. If the store returns synchronously, this method does too, and does not start a timeout.
   *
   * @param undo called after a failed call that the store may have executed, with the result if it arrived late. Errors
   * that it throws are ignored.
   */
  call<T>(
    work: (store: QuotaStore) => MaybePromise<T>,
    undo?: (store: QuotaStore, result?: T) => unknown,
  ): MaybePromise<T> {
    try {
      const response = work(this.store);
      return response instanceof Promise ? this.#withTimeout(response, (late) => this.#undo(undo, late)) : response;
    } catch (error) {
      this.#undo(undo);
      throw toStoreError(error);
    }
  }

  /** Reserves amounts. If the result is late or lost, releases the reservation, because no caller knows its id. */
  reserve(request: ReserveRequest): MaybePromise<readonly ExceededLimit[]> {
    return this.call(
      (store) => store.reserve(request),
      (store) => store.settle(request, 'release'),
    );
  }

  /**
   * Adds amounts to the used amounts. If the call fails, nothing remains counted, even if the store has committed and
   * its result was late or lost. If the store has no `consume`, reserves and commits the amounts.
   */
  consume(request: ReserveRequest): MaybePromise<readonly ExceededLimit[]> {
    const consume = this.#consume;
    if (!consume) return this.#reserveAndCommit(request);
    return this.call(
      () => consume(request),
      // Without a result, the store itself has to undo the call.
      (store, exceeded) => exceeded?.length === 0 && store.release(request.project, request.amounts),
    );
  }

  settle(reservation: StoredReservation, outcome: 'commit' | 'release'): MaybePromise<boolean> {
    return this.call((store) => store.settle(reservation, outcome));
  }

  renew(reservation: StoredReservation, ttlMs: number): MaybePromise<boolean> {
    return this.call((store) => store.renew(reservation, ttlMs));
  }

  async #reserveAndCommit(request: ReserveRequest): Promise<readonly ExceededLimit[]> {
    const exceeded = await this.reserve(request);
    if (exceeded.length > 0) return exceeded;
    const isCommitted = await this.call(
      (store) => store.settle(request, 'commit'),
      async (store) => {
        // No other code settles this reservation, so if it can no longer be released, it has been committed.
        if (!(await store.settle(request, 'release'))) await store.release(request.project, request.amounts);
      },
    );
    if (!isCommitted) throw new ReservationEnded(request.id);
    return exceeded;
  }

  #withTimeout<T>(response: Promise<T>, undo: (late?: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      let hasTimedOut = false;
      const call = this.#deadlines.start(() => {
        hasTimedOut = true;
        reject(new QuotaStoreError(`The quota store did not respond within ${this.#timeoutMs} ms`));
      });
      const onResult = (value: T) => {
        this.#deadlines.end(call);
        if (hasTimedOut) undo(value);
        resolve(value);
      };
      const onError = (error: unknown) => {
        this.#deadlines.end(call);
        undo();
        reject(toStoreError(error));
      };
      response.then(onResult, onError);
    });
  }

  #undo<T>(undo: ((store: QuotaStore, response?: T) => unknown) | undefined, late?: T): void {
    if (!undo) return;
    // In the promise executor, synchronous errors of the store also become rejections.
    new Promise((resolve) => resolve(undo(this.store, late))).catch(() => undefined);
  }
}

function toStoreError(error: unknown): QuotaError {
  return error instanceof QuotaError ? error : new QuotaStoreError('The quota store failed', { cause: error });
}
