import { afterAll, beforeAll, expect } from 'vitest';
import type { Api } from './api-under-test.js';

/**
 * Opens an API before the tests of the calling file or `describe` block, and closes it after them. The properties of
 * the returned object are set only while the tests run. Errors that caused a 500 fail the block.
 *
 * @param open returns an API, or an object that contains one
 */
export function sharedByTests<T extends Api | { readonly api: Api }>(open: () => Promise<T>): T {
  const shared = {} as T;
  beforeAll(async () => {
    Object.assign(shared, await open());
  });
  afterAll(async () => {
    const api: Api = 'api' in shared ? shared.api : shared;
    expect(api.errors).toEqual([]);
    await api.close();
  });
  return shared;
}
