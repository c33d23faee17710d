import { Version, type VersionLike } from '@apistrata/microversion';

/** More versions than a person could slide over; an API with them needs pages of another kind. */
const MOST = 10_000;

/** The versions from one to another, both included, ascending. */
export class VersionRange {
  readonly all: readonly Version[];
  readonly min: Version;
  readonly max: Version;
  readonly #byText: ReadonlyMap<string, number>;

  /** Throws a RangeError where the two are of different major numbers or in the wrong order. */
  constructor(min: VersionLike, max: VersionLike) {
    const [first, last] = [Version.of(min), Version.of(max)];
    if (first.major !== last.major || first.compare(last) > 0)
      throw new RangeError(
        `explorer(): ${min} to ${max} is not a range of versions: both must have the same major number, the lower one first`,
      );
    if (BigInt(last.minor) - BigInt(first.minor) > BigInt(MOST))
      throw new RangeError(`explorer(): ${min} to ${max} has more than ${MOST} versions`);
    const all: Version[] = [];
    for (let version = first; version.compare(last) <= 0; version = version.next()) all.push(version);
    this.min = all[0] as Version;
    this.max = all.at(-1) as Version;
    this.all = all;
    this.#byText = new Map(all.map((version, index) => [version.text, index]));
  }

  /** The version of a text; undefined where it is none of these. */
  find(text: string | null | undefined): Version | undefined {
    const index = this.#byText.get(text ?? '');
    return index === undefined ? undefined : this.all[index];
  }

  /** The place of a version among all, from 0. */
  indexOf(version: Version): number {
    return this.#byText.get(version.text) as number;
  }

  before(version: Version): Version | undefined {
    return this.all[this.indexOf(version) - 1];
  }
}
