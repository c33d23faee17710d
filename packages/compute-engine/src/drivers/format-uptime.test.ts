import { describe, expect, it } from 'vitest';
import { formatUptime } from './format-uptime.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const now = Date.UTC(2026, 0, 2, 3, 4, 5);

describe('the output of uptime(1)', () => {
  it.each([
    [0, '0 min'],
    [59 * MINUTE, '59 min'],
    [HOUR, ' 1:00'],
    [23 * HOUR + 7 * MINUTE, '23:07'],
    [DAY + 5 * MINUTE, '1 day, 5 min'],
    [400 * DAY + 12 * HOUR + 30 * MINUTE, '400 days, 12:30'],
  ])('after %d ms is "%s"', (up, text) => {
    expect(formatUptime(now, up)).toBe(` 03:04:05 up ${text},  0 users,  load average: 0.00, 0.00, 0.00`);
  });

  it('can be parsed by clients into time, duration, users and load', () => {
    expect(formatUptime(now, 3 * DAY)).toMatch(/^(.+)\sup\s+(.+),\s+(.+)\susers?,\s+load average:\s(.+)$/);
  });
});
