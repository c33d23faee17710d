import { testConsuming } from './consuming.js';
import { testCounting } from './counting.js';
import { testExactness } from './exactness.js';
import { testExpiry } from './expiry.js';
import { testOwnLimits } from './own-limits.js';
import type { QuotaStoreSuite } from './suite.js';

export type { QuotaStoreSuite } from './suite.js';

/**
 * The conformance suite of quota stores. Call it at the top of a test file with your runner's `describe` and `it`.
 *
 * @example
 * ```ts
 * import { memoryStore } from '@apistrata/quota';
 * import { testQuotaStore } from '@apistrata/quota/testing';
 * import { describe, it } from 'vitest';
 *
 * testQuotaStore({ describe, it, name: 'my store', open: ({ clock }) => memoryStore({ clock }) });
 * ```
 */
export function testQuotaStore(suite: QuotaStoreSuite): void {
  suite.describe(`${suite.name} as a quota store`, () => {
    testCounting(suite);
    testConsuming(suite);
    testExpiry(suite);
    testOwnLimits(suite);
    testExactness(suite);
  });
}
