import { QuotaError, QuotaStoreError } from './errors.js';
import type { HoldKeeper } from './reservation.js';
import type { Hold, MaybePromise, QuotaStore } from './store.js';

/** Calls a store so that it always answers: in time, or with a QuotaStoreError. */
export class StoreCaller implements HoldKeeper {
  readonly store: QuotaStore;
  readonly #timeoutMs: number;

  constructor(store: QuotaStore, timeoutMs: number) {
    this.store = store;
    this.#timeoutMs = timeoutMs;
  }

  /** Answers at once where the store does: then there is nothing to wait for, and no timer. */
  call<T>(work: (store: QuotaStore) => MaybePromise<T>): MaybePromise<T> {
    try {
      const answer = work(this.store);
      return answer instanceof Promise ? this.#inTime(answer) : answer;
    } catch (error) {
      throw asStoreError(error);
    }
  }

  settle(hold: Hold, outcome: 'commit' | 'release'): MaybePromise<boolean> {
    return this.call((store) => store.settle(hold, outcome));
  }

  renew(hold: Hold, ttlMs: number): MaybePromise<boolean> {
    return this.call((store) => store.renew(hold, ttlMs));
  }

  #inTime<T>(answer: Promise<T>): Promise<T> {
    const timeoutMs = this.#timeoutMs;
    return new Promise((resolve, reject) => {
      const late = () => reject(new QuotaStoreError(`The quota store did not answer within ${timeoutMs} ms`));
      const timer = setTimeout(late, timeoutMs);
      answer.then(resolve, (error) => reject(asStoreError(error))).finally(() => clearTimeout(timer));
    });
  }
}

function asStoreError(error: unknown): QuotaError {
  return error instanceof QuotaError ? error : new QuotaStoreError('The quota store failed', { cause: error });
}
