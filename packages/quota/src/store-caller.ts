import { QuotaError, QuotaStoreError } from './errors.js';
import type { Excess } from './limits.js';
import type { HoldKeeper } from './reservation.js';
import type { Hold, MaybePromise, QuotaStore, ReserveRequest } from './store.js';

/** Calls a store so that it always answers: in time, or with a QuotaStoreError. */
export class StoreCaller implements HoldKeeper {
  readonly store: QuotaStore;
  readonly #timeoutMs: number;

  constructor(store: QuotaStore, timeoutMs: number) {
    this.store = store;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Answers at once where the store does: then there is nothing to wait for, and no timer.
   *
   * @param undo called where this fails, once the store is through with it: it may have done the work all the same,
   *   late or with an answer that was lost. What it fails with is for nobody.
   */
  call<T>(work: (store: QuotaStore) => MaybePromise<T>, undo?: (store: QuotaStore) => unknown): MaybePromise<T> {
    try {
      const answer = work(this.store);
      return answer instanceof Promise ? this.#inTime(answer, () => this.#undo(undo)) : answer;
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

  settle(hold: Hold, outcome: 'commit' | 'release'): MaybePromise<boolean> {
    return this.call((store) => store.settle(hold, outcome));
  }

  /** Commits now, or never: a commit that failed counts nothing, also where it was done and the answer lost. */
  commitOnce(hold: Hold): MaybePromise<boolean> {
    return this.call(
      (store) => store.settle(hold, 'commit'),
      async (store) => {
        // Nobody else settles it: what cannot be released any more has been committed.
        if (!(await store.settle(hold, 'release'))) await store.giveBack(hold.project, hold.amounts);
      },
    );
  }

  renew(hold: Hold, ttlMs: number): MaybePromise<boolean> {
    return this.call((store) => store.renew(hold, ttlMs));
  }

  #inTime<T>(answer: Promise<T>, undo: () => void): Promise<T> {
    const timeoutMs = this.#timeoutMs;
    return new Promise((resolve, reject) => {
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        reject(new QuotaStoreError(`The quota store did not answer within ${timeoutMs} ms`));
      }, timeoutMs);
      const answered = (value: T) => {
        clearTimeout(timer);
        if (late) undo();
        resolve(value);
      };
      const failed = (error: unknown) => {
        clearTimeout(timer);
        undo();
        reject(asStoreError(error));
      };
      answer.then(answered, failed);
    });
  }

  #undo(undo: ((store: QuotaStore) => unknown) | undefined): void {
    if (!undo) return;
    // A promise of its own also takes what a store throws at once.
    new Promise((resolve) => resolve(undo(this.store))).catch(() => undefined);
  }
}

function asStoreError(error: unknown): QuotaError {
  return error instanceof QuotaError ? error : new QuotaStoreError('The quota store failed', { cause: error });
}
