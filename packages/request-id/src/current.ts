import { AsyncLocalStorage } from 'node:async_hooks';
import type { Issued, RequestIds } from './issued.js';

const storage = new AsyncLocalStorage<Issued>();

export function runWith<T>(issued: Issued, next: () => T): T {
  return storage.run(issued, next);
}

export function currentlyIssued(): Issued | undefined {
  return storage.getStore();
}

/**
 * Returns the ids of the request that caused the running code, also after `await`; undefined outside of any request
 * and below a `requestId({ context: false })`.
 */
export function currentRequestId(): RequestIds | undefined {
  return currentlyIssued()?.ids;
}
