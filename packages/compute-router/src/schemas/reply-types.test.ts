import { describe, expect, it } from 'vitest';
import { formatNullableTime, formatServerTime, formatTime, serverTime, time } from './reply-types.js';

const DAY_MS = 86_400_000;
const times = [0, 1, 999, 1000, -1, DAY_MS - 1, DAY_MS, Date.UTC(2024, 1, 29, 23, 59, 59, 7), 951_782_400_000, 4e12];

describe('times in responses', () => {
  it.each(times)('are formatted with seconds or microseconds: %d', (ms) => {
    const iso = new Date(ms).toISOString();
    expect(formatServerTime(ms)).toBe(`${iso.slice(0, 19)}Z`);
    expect(formatTime(ms)).toBe(`${iso.slice(0, 23)}000`);
    expect(serverTime.parse(formatServerTime(ms))).toBeTruthy();
    expect(time.parse(formatTime(ms))).toBeTruthy();
  });

  it('are null for null, and throw for an invalid time', () => {
    expect(formatNullableTime(null)).toBeNull();
    expect(() => formatTime(Number.NaN)).toThrow(RangeError);
    expect(() => formatServerTime(9e15)).toThrow(RangeError);
  });
});
