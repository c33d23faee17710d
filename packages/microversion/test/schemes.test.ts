import { describe, expect, it } from 'vitest';
import { dates, integers, majorMinor, semver } from '../src/schemes.js';
import { Version } from '../src/version.js';
import { at, before, breakpointsOf, notAfter, notBefore, since } from '../src/windowed.js';

describe('versions of each scheme', () => {
  it.each([
    ['2.9', '2.10', majorMinor],
    ['2025-12-31', '2026-01-01', dates],
    ['1.9.9', '1.10.0', semver],
    ['9', '10', integers],
  ])('orders %s below %s', (low, high, scheme) => {
    expect(Version.of(low).scheme).toBe(scheme);
    expect(Version.of(low).compare(Version.of(high))).toBeLessThan(0);
    expect(Version.of(high).compare(Version.of(high))).toBe(0);
  });

  it.each([
    ['2.9', '2.10'],
    ['2024-02-28', '2024-02-29'],
    ['2025-12-31', '2026-01-01'],
    ['1.4.9', '1.4.10'],
    ['9', '10'],
  ])('has no version between %s and %s', (low, high) => {
    expect(Version.of(low).next().text).toBe(high);
  });

  it.each(['2026-02-30', '2026-13-01', '2026-1-1', '01', '1.02.3', 'latest', '', '1.2.3.4', '1.2.3-beta'])(
    'rejects %j',
    (text) => {
      expect(() => Version.of(text)).toThrow(`'${text}' is not a version: write MAJOR.MINOR`);
    },
  );

  it('can be restricted to one scheme', () => {
    expect(() => Version.of('2', [majorMinor])).toThrow(
      /^'2' is not a version: write MAJOR\.MINOR without leading zeros, like 2\.27$/,
    );
  });

  it('cannot be compared with versions of another scheme', () => {
    expect(() => Version.of('2.1').compare(Version.of('2026-01-01'))).toThrow(
      'use one scheme for all versions of an API',
    );
  });
});

describe('a range of semver', () => {
  it.each([
    ['1', '1.0.0', '2.0.0'],
    ['1.x', '1.0.0', '2.0.0'],
    ['1.4', '1.4.0', '1.5.0'],
    ['1.4.*', '1.4.0', '1.5.0'],
    ['^1.4.2', '1.4.2', '2.0.0'],
    ['^0.4.2', '0.4.2', '0.5.0'],
    ['^0.0.2', '0.0.2', '0.0.3'],
    ['^1', '1.0.0', '2.0.0'],
    ['~1.4.2', '1.4.2', '1.5.0'],
    ['~1', '1.0.0', '2.0.0'],
  ])('reads %s as the versions from %s and below %s', (text, from, below) => {
    expect(semver.range?.(text)).toEqual([from, below]);
  });

  it.each(['>=1', 'x', '', '1 || 2', '1.2.3.4'])('does not read %j', (text) => {
    expect(semver.range?.(text)).toBeUndefined();
  });
});

describe('a value before a version', () => {
  it.each([
    ['2.0', '1.99', '2.0'],
    ['2025-03-01', '2025-02-28', '2025-03-01'],
    ['2.0.0', '1.99.99', '2.0.0'],
    ['2', '1', '2'],
  ])('exists before %s: at %s, and not at %s', (end, last, first) => {
    const value = before(end, 'a');
    expect([at(value, last), at(value, first)]).toEqual(['a', undefined]);
    expect(breakpointsOf(value).map(String)).toEqual([end]);
  });

  it('can follow and precede other windows', () => {
    const value = [since('2.0.0', 'b'), before('2.0.0', 'a')];
    expect([at(value, '1.5.0'), at(value, '2.0.0')]).toEqual(['a', 'b']);
    expect(() => at([before('2.0.1', 'a'), since('2.0.0', 'b')], '1.0.0')).toThrow(
      'the windows first..below 2.0.1 and 2.0.0..latest overlap',
    );
  });

  it('is limited by other bounds', () => {
    const value = before('3', 'a');
    expect(notBefore('2', value)?.map((window) => [window.since?.text, window.end?.text])).toEqual([['2', '3']]);
    expect(notBefore('3', value)).toBeUndefined();
    expect(notAfter('1', value)?.map(({ until }) => until?.text)).toEqual(['1']);
    expect(notAfter('3', value)).toEqual([value]);
  });
});
