import { majorMinor, Version, type VersionLike } from '@apistrata/microversion';

/** The maximum number of versions that the pages can show. */
const MAX_VERSIONS = 10_000;

/** An API's versions in ascending order. */
export class VersionRange {
  readonly all: readonly Version[];
  readonly min: Version;
  readonly max: Version;
  readonly #byText: ReadonlyMap<string, number>;

  private constructor(all: readonly Version[]) {
    const [min, max] = [all[0], all.at(-1)];
    if (!min || !max) throw new RangeError('explorer(): the list of versions is empty');
    this.min = min;
    this.max = max;
    this.all = all;
    this.#byText = new Map(all.map((version, index) => [version.text, index]));
  }

  /** Creates a range from a list of versions, such as dates. @throws TypeError if a version is invalid */
  static of(versions: readonly VersionLike[]): VersionRange {
    return new VersionRange(versions.map((version) => Version.of(version)).sort((a, b) => a.compare(b)));
  }

  /**
   * Creates the range of all versions between two versions, inclusive.
   *
   * @throws RangeError if their major numbers differ or `min` is higher than `max`
   */
  static between(min: VersionLike, max: VersionLike): VersionRange {
    const [first, last] = [Version.of(min, [majorMinor]), Version.of(max, [majorMinor])];
    if (first.major !== last.major || first.compare(last) > 0)
      throw new RangeError(
        `explorer(): ${min} to ${max} is not a range of versions: both must have the same major number, the lower one first`,
      );
    if (BigInt(last.minor) - BigInt(first.minor) > BigInt(MAX_VERSIONS))
      throw new RangeError(`explorer(): ${min} to ${max} has more than ${MAX_VERSIONS} versions`);
    const all: Version[] = [];
    for (let version = first; version.compare(last) <= 0; version = version.next()) all.push(version);
    return new VersionRange(all);
  }

  /** Returns the lowest version in the range that is not lower than the given one; undefined if none exists. */
  firstAtOrAfter(version: Version): Version | undefined {
    return this.find(version.text) ?? this.all.find((candidate) => candidate.compare(version) >= 0);
  }

  /** Returns the version with the given text; undefined if there is none. */
  find(text: string | null | undefined): Version | undefined {
    const index = this.#byText.get(text ?? '');
    return index === undefined ? undefined : this.all[index];
  }

  /** Returns the zero-based position of a version in the range. */
  indexOf(version: Version): number {
    return this.#byText.get(version.text) as number;
  }

  before(version: Version): Version | undefined {
    return this.all[this.indexOf(version) - 1];
  }
}
