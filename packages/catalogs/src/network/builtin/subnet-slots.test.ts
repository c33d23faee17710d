import { describe, expect, it } from 'vitest';
import { defaultPools } from './subnet-slots.js';

describe('the default allocation pools of a subnet', () => {
  it('contain all addresses except the reserved addresses and the gateway', () => {
    expect(defaultPools('10.0.0.0/24', '10.0.0.1')).toEqual([{ start: '10.0.0.2', end: '10.0.0.254' }]);
    expect(defaultPools('10.0.0.0/29', '10.0.0.4')).toEqual([
      { start: '10.0.0.1', end: '10.0.0.3' },
      { start: '10.0.0.5', end: '10.0.0.6' },
    ]);
    expect(defaultPools('10.0.0.0/31', null)).toEqual([{ start: '10.0.0.0', end: '10.0.0.1' }]);
    expect(defaultPools('10.0.0.9/32', '10.0.0.9')).toEqual([]);
  });
});
