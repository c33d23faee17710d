import { AsyncLocalStorage } from 'node:async_hooks';
import type { IssuedIds, RequestIds } from './issued.js';

/**
 * A registered symbol, because some bundlers, such as the one in Next.js, include another copy of this module for route
 * handlers. The number in its name must change if the type of the stored value changes.
 */
const STORAGE_KEY = Symbol.for('@apistrata/request-id 1');
const sharedGlobal = globalThis as { [STORAGE_KEY]?: AsyncLocalStorage<IssuedIds> };
sharedGlobal[STORAGE_KEY] ??= new AsyncLocalStorage();
const storage = sharedGlobal[STORAGE_KEY];

/** Runs a function, and all asynchronous code that it starts, with the ids of a request. */
export function runWithIds<T>(issued: IssuedIds, next: () => T): T {
  return storage.run(issued, next);
}

/** Returns the ids that the middleware has set for the calling code. */
export function currentIssuedIds(): IssuedIds | undefined {
  return storage.getStore();
}

/**
 * Returns the ids of the request for which the calling code runs, even after `await`. Returns undefined outside of any
 * request, and with `requestId({ context: false })`.
 */
export function currentRequestId(): RequestIds | undefined {
  return currentIssuedIds()?.ids;
}
