import { describe, expect, it } from 'vitest';
import { testQuotaStore } from '../testing/index.js';
import { memoryStore } from './index.js';

testQuotaStore({ describe, it, name: 'memory', open: memoryStore });

describe('memoryStore', () => {
  it('refuses a misspelt option and names the right one', () => {
    expect(() => memoryStore({ clok: Date.now } as object)).toThrow('did you mean "clock"?');
  });
});
