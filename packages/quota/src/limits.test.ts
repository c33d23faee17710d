import { describe, expect, it } from 'vitest';
import { checkLimits } from './limits.js';

describe('checkLimits', () => {
  it('reports no exceeded kind if the request just fits', () => {
    const check = { limits: { cores: 20, ram: 512 }, usage: { cores: 16, ram: 0 }, requested: { cores: 4, ram: 512 } };
    expect(checkLimits(check).exceeded).toEqual([]);
  });

  it('returns every kind that exceeds its limit, with requested, used and limit, in the requested order', () => {
    const limits = { ram: 51200, instances: 10, cores: 20 };
    const usage = { instances: 1, cores: 1, ram: 512 };
    expect(checkLimits({ limits, usage, requested: { cores: 40, instances: 1, ram: 81920 } }).exceeded).toEqual([
      { kind: 'cores', requested: 40, used: 1, limit: 20 },
      { kind: 'ram', requested: 81920, used: 512, limit: 51200 },
    ]);
  });

  it('accepts every amount if the limit is negative or missing', () => {
    const limits = { cores: -1, ram: null };
    const requested = { cores: 1e15, ram: 1e15, disk: 1e15 };
    expect(checkLimits({ limits, usage: { cores: 1e15 }, requested }).exceeded).toEqual([]);
  });

  it('rejects every amount if the limit is 0', () => {
    expect(checkLimits({ limits: { cores: 0 }, usage: {}, requested: { cores: 1 } }).exceeded).toEqual([
      { kind: 'cores', requested: 1, used: 0, limit: 0 },
    ]);
  });

  it('accepts zero and negative amounts above a lowered limit', () => {
    const requested = { cores: 0, ram: -512 };
    expect(checkLimits({ limits: { cores: 2, ram: 2 }, usage: { cores: 8, ram: 1024 }, requested }).exceeded).toEqual(
      [],
    );
  });

  it('compares limits beyond the safe integers', () => {
    const limits = { bytes: 9223372036854775807n };
    expect(checkLimits({ limits, usage: { bytes: 2 ** 52 }, requested: { bytes: 2 ** 51 } }).exceeded).toEqual([]);
  });

  it('rejects sums that a double cannot represent exactly, even without a limit', () => {
    const check = { limits: { bytes: -1 }, usage: { bytes: Number.MAX_SAFE_INTEGER }, requested: { bytes: 1 } };
    expect(checkLimits(check).exceeded).toHaveLength(1);
  });

  it('does not mistake inherited properties for limits or usage', () => {
    expect(checkLimits({ limits: {}, usage: {}, requested: { constructor: 1, toString: 1 } }).exceeded).toEqual([]);
  });
});
