import { describe, expect, it } from 'vitest';
import { WalMarks, walPosition } from './wal-marks.js';

describe('positions in the write-ahead log', () => {
  it('are compared as numbers, not as strings', () => {
    expect(walPosition('0/1')).toBe(1n);
    expect(walPosition('16/B374D848')).toBe(0x16_b374_d848n);
    expect(walPosition('A/0') > walPosition('9/FFFFFFFF')).toBe(true);
  });
});

describe('the history of log positions', () => {
  it('returns the time before which a replica at a position has all commits', () => {
    const marks = new WalMarks(1000);
    for (const [at, position] of [
      [0, 10n],
      [100, 20n],
      [200, 20n],
      [300, 30n],
    ] as const)
      marks.add(at, position);
    expect(marks.timeOf(9n)).toBe(Number.NEGATIVE_INFINITY);
    expect(marks.timeOf(10n)).toBe(0);
    expect(marks.timeOf(29n)).toBe(200);
    expect(marks.timeOf(30n)).toBe(300);
  });

  it('contains positions only for the retention period', () => {
    const marks = new WalMarks(1000);
    for (let at = 0; at <= 5000; at++) marks.add(at, BigInt(at));
    expect(marks.timeOf(3999n)).toBe(Number.NEGATIVE_INFINITY);
    expect(marks.timeOf(4500n)).toBeGreaterThan(4490);
    expect(marks.timeOf(4500n)).toBeLessThanOrEqual(4500);
    expect(marks.timeOf(5000n)).toBe(5000);
  });

  it('is discarded when a server with an older position becomes the primary', () => {
    const marks = new WalMarks(1000);
    expect(marks.add(0, 100n)).toBe(true);
    expect(marks.add(10, 100n)).toBe(true);
    expect(marks.add(20, 90n)).toBe(false);
    expect(marks.timeOf(95n)).toBe(20);
    expect(marks.timeOf(89n)).toBe(Number.NEGATIVE_INFINITY);
  });
});
