/**
 * The numbers of a version as strings of decimal digits, most significant first. In each position, all versions pad the
 * number to the same length, or none do.
 */
export type VersionNumbers = readonly [first: string, second?: string, third?: string];

/** A version format: how versions are written, parsed and ordered. Pass a custom one to `Version.in()` or `versioning()`. */
export interface VersionScheme {
  /** The name of the scheme in messages, such as `dates`. */
  readonly name: string;
  /** The description of the format in messages, such as `a date YYYY-MM-DD, like 2026-11-22`. */
  readonly form: string;
  /** The lowest version in this format. */
  readonly lowest: string;
  /** Returns the numbers of a version, or undefined if the text does not have the format of this scheme. */
  readonly parse: (text: string) => VersionNumbers | undefined;
  /** Returns the lowest version above the version with these numbers. */
  readonly next: (numbers: readonly string[]) => string;
  /**
   * Parses a range such as `^1.2`, which a client may send instead of an exact version. Returns the lowest version in
   * the range and the lowest version above the range, or undefined if the text is not a range.
   */
  readonly range?: (text: string) => readonly [from: string, below: string] | undefined;
}

const NUMBER = '(0|[1-9]\\d*)';

function createPatternParser(source: string): (text: string) => VersionNumbers | undefined {
  const form = new RegExp(`^${source}$`);
  return (text) => form.exec(text)?.slice(1) as VersionNumbers | undefined;
}

function addToDigits(digits: string | undefined, step: bigint): string {
  return String(BigInt(digits ?? 0) + step);
}

/** Versions such as `2.27`: two numbers, as in microversions. 2.10 is above 2.9. */
export const majorMinor: VersionScheme = {
  name: 'majorMinor',
  form: 'MAJOR.MINOR without leading zeros, like 2.27',
  lowest: '1.0',
  parse: createPatternParser(`([1-9]\\d*)\\.${NUMBER}`),
  next: ([major, minor]) => `${major}.${addToDigits(minor, 1n)}`,
};

/** Versions such as `7`: one number, from 1. */
export const integers: VersionScheme = {
  name: 'integers',
  form: 'an integer like 7',
  lowest: '1',
  parse: createPatternParser('([1-9]\\d*)'),
  next: ([number]) => addToDigits(number, 1n),
};

const DAY_MS = 24 * 60 * 60 * 1000;

function dayOf(numbers: readonly (string | undefined)[]): number {
  return Date.parse(`${numbers.join('-')}T00:00:00Z`);
}

function formatDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

const parseDate = createPatternParser('(\\d{4})-(\\d\\d)-(\\d\\d)');

/** Versions such as `2026-11-22`: calendar dates. */
export const dates: VersionScheme = {
  name: 'dates',
  form: 'a date YYYY-MM-DD, like 2026-11-22',
  lowest: '0000-01-01',
  parse: (text) => {
    const numbers = parseDate(text);
    // The parsed date differs from the text if the day does not exist: 2026-02-30 becomes 2026-03-02.
    return numbers && Number.isFinite(dayOf(numbers)) && formatDay(dayOf(numbers)) === text ? numbers : undefined;
  },
  next: (numbers) => formatDay(dayOf(numbers) + DAY_MS),
};

const RANGE = /^([~^]?)(\d+)(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?$/;

/** Returns how many leading numbers all versions in a semver range have in common: 2 for `^0.2.3` and `~1.2`, 1 for `1`. */
function countFixedNumbers(operator: string, numbers: readonly string[]): number {
  if (operator !== '^') return operator === '~' && numbers.length > 1 ? 2 : numbers.length;
  const significantIndex = numbers.findIndex((number) => number !== '0');
  return significantIndex < 0 ? numbers.length : significantIndex + 1;
}

/**
 * Versions such as `1.4.2`: three numbers without a pre-release part. Clients may also send the ranges `1`, `1.4`,
 * `1.x`, `^1.4.0` and `~1.4.0`.
 */
export const semver: VersionScheme = {
  name: 'semver',
  form: 'MAJOR.MINOR.PATCH without leading zeros, like 1.4.2',
  lowest: '0.0.0',
  parse: createPatternParser(`${NUMBER}\\.${NUMBER}\\.${NUMBER}`),
  next: ([major, minor, patch]) => `${major}.${minor}.${addToDigits(patch, 1n)}`,
  range: (text) => {
    const [, operator = '', ...matchedNumbers] = RANGE.exec(text) ?? [];
    const numbers = matchedNumbers
      .filter((number) => number !== undefined && /^\d/.test(number))
      .map((digits) => addToDigits(digits, 0n));
    if (numbers.length === 0) return undefined;
    const fixedCount = countFixedNumbers(operator, numbers);
    const fullVersion = (from: readonly string[]) => [...from, '0', '0'].slice(0, 3).join('.');
    return [
      fullVersion(numbers),
      fullVersion(
        numbers.slice(0, fixedCount).map((number, i) => (i === fixedCount - 1 ? addToDigits(number, 1n) : number)),
      ),
    ];
  },
};

/** The version formats that {@link Version.of} recognizes. No text matches more than one of them. */
export const knownSchemes: readonly VersionScheme[] = [majorMinor, dates, semver, integers];

/** Returns the start of the day that a version in the scheme {@link dates} names, in milliseconds since 1970. */
export function startOfDayMs(text: string): number {
  return Date.parse(`${text}T00:00:00Z`);
}
