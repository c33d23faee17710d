import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Version } from './version.js';
import { at, between, breakpointsOf, notAfter, notBefore, PerInterval, since, until, windowsOf } from './windowed.js';

const v = (text: string) => Version.of(text);

describe('a version', () => {
  it('is compared numerically, the major number first', () => {
    expect(v('2.10').compare(v('2.9'))).toBeGreaterThan(0);
    expect(v('2.100').compare(v('2.99'))).toBeGreaterThan(0);
    expect(v('3.0').compare(v('2.100'))).toBeGreaterThan(0);
    expect(v('2.1').compare(v('2.1'))).toBe(0);
  });

  it.each([
    '',
    '2',
    '2.',
    '.1',
    '02.1',
    '2.01',
    '2.00',
    '0.1',
    '2.1.0',
    ' 2.1',
    '2.1 ',
    '+2.1',
    '2.-1',
    'latest',
    '2.١',
  ])('rejects %j', (text) => {
    expect(Version.parse(text)).toBeUndefined();
  });

  it('preserves and orders numbers of any length', () => {
    const long = `2.${'9'.repeat(400)}`;
    expect(String(Version.parse(long))).toBe(long);
    expect(v(long).compare(v(`2.1${'0'.repeat(400)}`))).toBeLessThan(0);
  });

  it('is ordered by major number, then by minor number', () => {
    const part = fc.tuple(fc.bigInt(1n, 10n ** 30n), fc.bigInt(0n, 10n ** 30n));
    fc.assert(
      fc.property(part, part, ([aMajor, aMinor], [bMajor, bMinor]) => {
        const expected = aMajor !== bMajor ? aMajor > bMajor : aMinor > bMinor;
        expect(v(`${aMajor}.${aMinor}`).compare(v(`${bMajor}.${bMinor}`)) > 0).toBe(expected);
      }),
    );
  });

  it('is rejected with an error that names the format if it is malformed', () => {
    expect(() => Version.of('2.')).toThrow(/MAJOR\.MINOR/);
  });
});

describe('a windowed value', () => {
  it('is the same at every version if it is plain', () => {
    expect(at('x', '2.1')).toBe('x');
    expect(at(['a', 'b'], '2.1')).toEqual(['a', 'b']);
  });

  it('includes both ends of its window', () => {
    const value = between('2.32', '2.36', 'tag');
    expect(['2.31', '2.32', '2.36', '2.37'].map((version) => at(value, version))).toEqual([
      undefined,
      'tag',
      'tag',
      undefined,
    ]);
  });

  it('has the value of the window that contains the version, and none in gaps', () => {
    const value = [since('2.42', 3), until('2.10', 1), between('2.32', '2.36', 2)];
    expect(['2.1', '2.20', '2.33', '2.40', '2.100'].map((version) => at(value, version))).toEqual([
      1,
      undefined,
      2,
      undefined,
      3,
    ]);
  });

  it.each([
    [[until('2.10', 1), since('2.10', 2)], /first\.\.2\.10 and 2\.10\.\.latest overlap/],
    [[since('2.1', 1), since('2.5', 2)], /overlap/],
    [[until('2.1', 1), until('2.5', 2)], /overlap/],
  ])('rejects overlapping windows and names them', (value, message) => {
    expect(() => windowsOf(value)).toThrow(message);
  });

  it('rejects an empty window', () => {
    expect(() => between('2.5', '2.4', 1)).toThrow(/2\.5\.\.2\.4 is empty/);
  });

  it('changes only at its breakpoints', () => {
    expect(breakpointsOf([until('2.36', 1), since('2.42', 2)], since('2.42', 3), 'plain').map(String)).toEqual([
      '2.37',
      '2.42',
    ]);
  });
});

describe('a value that is cached per interval', () => {
  it('is built on first use and shared by all versions of one interval', () => {
    const built: string[] = [];
    const shapes = new PerInterval([v('2.10'), v('2.20')], (version) => {
      built.push(version.text);
      return { version };
    });
    expect(built).toEqual([]);
    expect(shapes.at(v('2.10'))).toBe(shapes.at(v('2.19')));
    expect(shapes.at(v('2.9'))).not.toBe(shapes.at(v('2.10')));
    expect(shapes.at(v('2.20'))).toBe(shapes.at(v('2.100')));
    expect(built).toEqual(['2.10', '2.9', '2.20']);
  });
});

describe('a windowed value that is limited to versions from or up to a bound', () => {
  const history = [until('2.4', 'a'), between('2.5', '2.9', 'b'), since('2.12', 'c')] as const;

  it('is unchanged within the bound, inclusive, and undefined beyond it', () => {
    const upper = notBefore('2.7', history)!;
    expect(['2.6', '2.7', '2.9', '2.10', '2.12'].map((version) => at(upper, version))).toEqual([
      undefined,
      'b',
      'b',
      undefined,
      'c',
    ]);
    const lower = notAfter('2.7', history)!;
    expect(['2.1', '2.4', '2.7', '2.8', '2.12'].map((version) => at(lower, version))).toEqual([
      'a',
      'a',
      'b',
      undefined,
      undefined,
    ]);
  });

  it('is undefined if no window remains', () => {
    expect(notAfter('2.11', since('2.12', 1))).toBeUndefined();
    expect(notBefore('2.5', until('2.4', 1))).toBeUndefined();
    expect(at(notAfter('2.3', 'always')!, '2.3')).toBe('always');
  });
});
