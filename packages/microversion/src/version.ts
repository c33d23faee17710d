import { knownSchemes, majorMinor, type VersionNumbers, type VersionScheme } from './schemes.js';

/** Compares two decimal numbers, which have no leading zeros or the same length. */
function compareDigits(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

function incomparableError(a: Version, b: Version): TypeError {
  const [first, second] = [a, b].map(({ text, scheme }) => `${text} (${scheme.name})`);
  return new TypeError(`${first} and ${second} cannot be compared: use one scheme for all versions of an API`);
}

/**
 * A version of an API: `2.27`, `2026-11-22`, `1.4.2` or `7`. Numbers compare numerically (2.10 > 2.9) and may be
 * arbitrarily long; the text is kept digit for digit. Instances are immutable.
 */
export class Version {
  /** The version as a string. */
  readonly text: string;
  /** The first number; the year if the version is a date. */
  readonly major: string;
  /** The second number; the month if the version is a date. Empty if the scheme has one number. */
  readonly minor: string;
  /** The third number; the day if the version is a date. Empty if the scheme has fewer numbers. */
  readonly patch: string;
  /** The format of the version. */
  readonly scheme: VersionScheme;

  private constructor(scheme: VersionScheme, text: string, [major, minor = '', patch = '']: VersionNumbers) {
    this.text = text;
    this.major = major;
    this.minor = minor;
    this.patch = patch;
    this.scheme = scheme;
    Object.freeze(this);
  }

  /** Parses a version such as `2.27`. Returns undefined for any text other than two numbers without leading zeros. */
  static parse(text: string): Version | undefined {
    return Version.in(majorMinor, text);
  }

  /** Parses a version of a scheme. Returns undefined if the text does not have the format of the scheme. */
  static in(scheme: VersionScheme, text: string): Version | undefined {
    const numbers = scheme.parse(text);
    return numbers && new Version(scheme, text, numbers);
  }

  /**
   * Parses a version in source code, with the first scheme that accepts it.
   *
   * @param schemes default: the schemes of `2.27`, `2026-11-22`, `1.4.2` and `7`
   * @throws TypeError if the text is not a version of any of the schemes
   */
  static of(version: VersionLike, schemes: readonly VersionScheme[] = knownSchemes): Version {
    if (version instanceof Version) return version;
    for (const scheme of schemes) {
      const parsed = typeof version === 'string' ? Version.in(scheme, version) : undefined;
      if (parsed) return parsed;
    }
    throw new TypeError(`'${version}' is not a version: write ${schemes.map(({ form }) => form).join(', or ')}`);
  }

  /**
   * Returns a negative number, zero or a positive number if this version is lower than, equal to or higher than the other.
   *
   * @throws TypeError if the versions have different schemes
   */
  compare(other: Version): number {
    if (this.scheme !== other.scheme) throw incomparableError(this, other);
    return (
      compareDigits(this.major, other.major) ||
      compareDigits(this.minor, other.minor) ||
      compareDigits(this.patch, other.patch)
    );
  }

  /** Returns whether this version is between two versions, inclusive. An undefined bound is open. */
  within(since: Version | undefined, until: Version | undefined): boolean {
    return (!since || this.compare(since) >= 0) && (!until || this.compare(until) <= 0);
  }

  /** Returns the next higher version: `2.28` after `2.27`, the next day after a date. */
  next(): Version {
    return Version.of(this.scheme.next([this.major, this.minor, this.patch]), [this.scheme]);
  }

  toString(): string {
    return this.text;
  }

  toJSON(): string {
    return this.text;
  }
}

/** A version, or its text form. */
export type VersionLike = Version | string;
