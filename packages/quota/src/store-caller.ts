import { Deadlines } from './deadlines.js';
import { QuotaError, QuotaStoreError, ReservationGone } from './errors.js';
import type { Excess } from './limits.js';
import type { HoldKeeper } from './reservation.js';
import type { Hold, MaybePromise, QuotaStore, ReserveRequest } from './store.js';

/** Calls a store so that it always answers: in time, or with a QuotaStoreError. */
export class StoreCaller implements HoldKeeper {
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
   * Answers at once where the store does: then there is nothing to wait for, and no timer.
   *
   * @param undo called where this fails, once the store is through with it, and with its answer where that was only late:
   *   it may have done the work all the same. What it fails with is for nobody.
   */
  call<T>(
    work: (store: QuotaStore) => MaybePromise<T>,
    undo?: (store: QuotaStore, answer?: T) => unknown,
  ): MaybePromise<T> {
    try {
      const answer = work(this.store);
      return answer instanceof Promise ? this.#inTime(answer, (late) => this.#undo(undo, late)) : answer;
    } catch (error) {
      this.#undo(undo);
      throw asStoreError(error);
    }
  }

  /** A reservation of which the answer was late or lost is nobody's: it is released. */
  reserve(request: ReserveRequest): MaybePromise<readonly Excess[]> {
    return this.call(
      (store) => store.reserve(request),
      (store) => store.settle(request, 'release'),
    );
  }

  /**
   * Takes for good now, or never: what failed counts nothing, also where it was done and the answer came late or was lost.
   * A store that cannot do it in one step reserves in between.
   */
  consume(request: ReserveRequest): MaybePromise<readonly Excess[]> {
    const consume = this.#consume;
    if (!consume) return this.#reserveAndCommit(request);
    return this.call(
      () => consume(request),
      // A lost answer is the store's to look after.
      (store, exceeded) => exceeded?.length === 0 && store.giveBack(request.project, request.amounts),
    );
  }

  settle(hold: Hold, outcome: 'commit' | 'release'): MaybePromise<boolean> {
    return this.call((store) => store.settle(hold, outcome));
  }

  renew(hold: Hold, ttlMs: number): MaybePromise<boolean> {
    return this.call((store) => store.renew(hold, ttlMs));
  }

  async #reserveAndCommit(request: ReserveRequest): Promise<readonly Excess[]> {
    const exceeded = await this.reserve(request);
    if (exceeded.length > 0) return exceeded;
    const committed = await this.call(
      (store) => store.settle(request, 'commit'),
      async (store) => {
        // Nobody else settles it: what cannot be released any more has been committed.
        if (!(await store.settle(request, 'release'))) await store.giveBack(request.project, request.amounts);
      },
    );
    if (!committed) throw new ReservationGone(request.id);
    return exceeded;
  }

  #inTime<T>(answer: Promise<T>, undo: (late?: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      let late = false;
      const awaited = this.#deadlines.begin(() => {
        late = true;
        reject(new QuotaStoreError(`The quota store did not answer within ${this.#timeoutMs} ms`));
      });
      const answered = (value: T) => {
        this.#deadlines.end(awaited);
        if (late) undo(value);
        resolve(value);
      };
      const failed = (error: unknown) => {
        this.#deadlines.end(awaited);
        undo();
        reject(asStoreError(error));
      };
      answer.then(answered, failed);
    });
  }

  #undo<T>(undo: ((store: QuotaStore, answer?: T) => unknown) | undefined, late?: T): void {
    if (!undo) return;
    // A promise of its own also takes what a store throws at once.
    new Promise((resolve) => resolve(undo(this.store, late))).catch(() => undefined);
  }
}

function asStoreError(error: unknown): QuotaError {
  return error instanceof QuotaError ? error : new QuotaStoreError('The quota store failed', { cause: error });
}
