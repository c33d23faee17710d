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

  async call<T>(work: (store: QuotaStore) => MaybePromise<T>): Promise<T> {
    try {
      const answer = work(this.store);
      // A store in this process answers at once: it needs no timer.
      return answer instanceof Promise ? await this.#inTime(answer) : answer;
    } catch (error) {
      if (error instanceof QuotaError) throw error;
      throw new QuotaStoreError('The quota store failed', { cause: error });
    }
  }

  settle(hold: Hold, outcome: 'commit' | 'release'): Promise<boolean> {
    return this.call((store) => store.settle(hold, outcome));
  }

  renew(hold: Hold, ttlMs: number): Promise<boolean> {
    return this.call((store) => store.renew(hold, ttlMs));
  }

  #inTime<T>(answer: Promise<T>): Promise<T> {
    const timeoutMs = this.#timeoutMs;
    return new Promise((resolve, reject) => {
      const late = () => reject(new QuotaStoreError(`The quota store did not answer within ${timeoutMs} ms`));
      const timer = setTimeout(late, timeoutMs);
      answer.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }
}
