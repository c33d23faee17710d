import { AsyncLocalStorage } from 'node:async_hooks';
import type { Issued, RequestIds } from './issued.js';

/**
 * Registered for the whole process, because bundlers such as that of Next.js give route handlers a copy of this module. The
 * number changes with the form of the stored value.
 */
const STORAGE = Symbol.for('@apistrata/request-id 1');
const shared = globalThis as { [STORAGE]?: AsyncLocalStorage<Issued> };
shared[STORAGE] ??= new AsyncLocalStorage();
const storage = shared[STORAGE];

export function runWith<T>(issued: Issued, next: () => T): T {
  return storage.run(issued, next);
}

export function currentlyIssued(): Issued | undefined {
  return storage.getStore();
}

/**
 * Returns the ids of the request that caused the running code, even after `await`; undefined outside of any request
 * and below a `requestId({ context: false })`.
 */
export function currentRequestId(): RequestIds | undefined {
  return currentlyIssued()?.ids;
}
