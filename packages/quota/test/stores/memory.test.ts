import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/memory/index.js';
import { testQuotaStore } from '../../src/testing/index.js';

testQuotaStore({ describe, it, name: 'memory', open: memoryStore });

describe('memoryStore', () => {
  it('rejects a misspelled option and suggests the correct one', () => {
    expect(() => memoryStore({ clok: Date.now } as object)).toThrow('did you mean "clock"?');
  });
});
