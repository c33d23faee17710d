import { knownSchemes, majorMinor, type VersionNumbers, type VersionScheme } from './schemes.js';

/** Compares two strings of decimal digits numerically. They must have the same length or no leading zeros. */
function compareDigits(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

function incomparableError(a: Version, b: Version): TypeError {
  const [first, second] = [a, b].map(({ text, scheme }) => `${text} (${scheme.name})`);
  return new TypeError(`${first} and ${second} cannot be compared: use one scheme for all versions of an API`);
}

/**
 * An API version, such as `2.27`, `2026-11-22`, `1.4.2` or `7`. Numbers are compared numerically (2.10 > 2.9) and may
 * have any length; `text` preserves every digit. Instances are immutable.
 */
export class Version {
  /** The version as a string. */
  readonly text: string;
  /** The first number of the version; for a date, the year. */
  readonly major: string;
  /** The second number of the version; for a date, the month. Empty if the scheme has one number. */
  readonly minor: string;
  /** The third number of the version; for a date, the day. Empty if the scheme has fewer numbers. */
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

  /** Parses a version such as `2.27`: two numbers without leading zeros. Returns undefined for any other text. */
  static parse(text: string): Version | undefined {
    return Version.in(majorMinor, text);
  }

  /** Parses a version in a given scheme. Returns undefined if the text does not have the scheme's format. */
  static in(scheme: VersionScheme, text: string): Version | undefined {
    const numbers = scheme.parse(text);
    return numbers && new Version(scheme, text, numbers);
  }

  /**
   * Parses a version that is written in source code, with the first scheme that accepts it.
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

  /** Returns the next higher version, such as `2.28` after `2.27`; for a date, the next day. */
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

/** A version object, or a version as a string. */
export type VersionLike = Version | string;
