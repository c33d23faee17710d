import { testConsuming } from './consuming.js';
import { testCounting } from './counting.js';
import { testExactness } from './exactness.js';
import { testExpiry } from './expiry.js';
import { testOwnLimits } from './own-limits.js';
import type { QuotaStoreSuite } from './suite.js';

export type { QuotaStoreSuite } from './suite.js';

/**
 * Defines the conformance tests of a quota store. Call it at the top level of a test file with the `describe` and `it` from your
 * test runner.
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
