/** Compares two runs of decimal digits without leading zeros, however long they are. */
function compareDigits(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

const FORM = /^([1-9]\d*)\.(0|[1-9]\d*)$/;

/**
 * A microversion: two decimal numbers joined by a dot. Parts compare numerically (2.10 > 2.9) and may be
 * arbitrarily long; the text is kept digit for digit. Instances are immutable.
 */
export class Version {
  /** Text form, `MAJOR.MINOR`. */
  readonly text: string;
  readonly major: string;
  readonly minor: string;

  private constructor(text: string, major: string, minor: string) {
    this.text = text;
    this.major = major;
    this.minor = minor;
    Object.freeze(this);
  }

  /** Reads `2.27`; undefined for anything that is not exactly two numbers without leading zeros. */
  static parse(text: string): Version | undefined {
    const [, major, minor] = FORM.exec(text) ?? [];
    return major === undefined || minor === undefined ? undefined : new Version(text, major, minor);
  }

  /** Like {@link Version.parse} for versions written by a programmer: throws a TypeError that names the cure. */
  static of(version: VersionLike): Version {
    if (version instanceof Version) return version;
    const parsed = Version.parse(version);
    if (!parsed)
      throw new TypeError(`'${version}' is not a version: write MAJOR.MINOR without leading zeros, like '2.27'`);
    return parsed;
  }

  /** Negative, zero or positive as this version is lower than, equal to or higher than the other. */
  compare(other: Version): number {
    return compareDigits(this.major, other.major) || compareDigits(this.minor, other.minor);
  }

  /** True when this version lies between the two, both included; a missing bound is no bound. */
  within(since: Version | undefined, until: Version | undefined): boolean {
    return (!since || this.compare(since) >= 0) && (!until || this.compare(until) <= 0);
  }

  /** The version directly above, within the same major number. */
  next(): Version {
    return Version.of(`${this.major}.${BigInt(this.minor) + 1n}`);
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
