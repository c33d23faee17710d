import { describe, expect, it } from 'vitest';
import { serverTime, showNullableTime, showServerTime, showTime, time } from './reply-types.js';

const DAY_MS = 86_400_000;
const times = [0, 1, 999, 1000, -1, DAY_MS - 1, DAY_MS, Date.UTC(2024, 1, 29, 23, 59, 59, 7), 951_782_400_000, 4e12];

describe('times in responses', () => {
  it.each(times)('are formatted with seconds or microseconds: %d', (ms) => {
    const iso = new Date(ms).toISOString();
    expect(showServerTime(ms)).toBe(`${iso.slice(0, 19)}Z`);
    expect(showTime(ms)).toBe(`${iso.slice(0, 23)}000`);
    expect(serverTime.parse(showServerTime(ms))).toBeTruthy();
    expect(time.parse(showTime(ms))).toBeTruthy();
  });

  it('are null for null, and throw for an invalid time', () => {
    expect(showNullableTime(null)).toBeNull();
    expect(() => showTime(Number.NaN)).toThrow(RangeError);
    expect(() => showServerTime(9e15)).toThrow(RangeError);
  });
});
