import { InvalidVersionHeader, RequestError, type SupportedVersions, UnacceptableVersion } from '../errors.js';
import { knownSchemes, type VersionScheme } from '../schemes.js';
import { Version, type VersionLike } from '../version.js';
import { type CompiledVersion, compileVersion, type VersionRecord } from './lifecycle.js';

/**
 * How a requested version that is not listed is handled: `reject` returns an error, `previous` selects the newest
 * listed version below it.
 */
export type UnlistedVersions = 'reject' | 'previous';

/** The versions of an API in ascending order, and the rules that select one for a request. */
export class VersionList {
  readonly all: readonly CompiledVersion[];
  readonly oldest: CompiledVersion;
  readonly newest: CompiledVersion;
  readonly served: SupportedVersions;
  readonly #scheme: VersionScheme;
  readonly #byText: ReadonlyMap<string, CompiledVersion>;
  readonly #unlisted: UnlistedVersions;

  /** Validates and sorts the versions. @throws TypeError or RangeError if the list is empty, mixes schemes or has duplicates */
  constructor(versions: readonly (VersionLike | VersionRecord)[], unlisted: UnlistedVersions, scheme?: VersionScheme) {
    const schemes = scheme ? [scheme] : knownSchemes;
    const all = versions.map((entry) => {
      const record = typeof entry === 'string' || entry instanceof Version ? { version: entry } : entry;
      return compileVersion(Version.of(record.version, schemes), record);
    });
    all.sort((a, b) => a.version.compare(b.version));
    const [oldest, newest] = [all[0], all.at(-1)];
    if (!oldest || !newest) throw new RangeError("versioning: 'versions' is empty: add at least one version");
    this.#byText = new Map(all.map((compiled) => [compiled.version.text, compiled]));
    if (this.#byText.size < all.length)
      throw new RangeError(`versioning: a version is listed twice: ${all.map(({ version }) => version)}`);
    this.all = all;
    this.oldest = oldest;
    this.newest = newest;
    this.#scheme = oldest.version.scheme;
    this.#unlisted = unlisted;
    this.served = Object.freeze({
      service: 'api',
      min: oldest.version,
      max: newest.version,
      versions: all.map(({ version }) => version),
    });
  }

  /** Returns whether a text has the format of a version of this API, listed or not. */
  readonly isVersion = (text: string): boolean =>
    text === 'latest' || this.#scheme.parse(text) !== undefined || this.#scheme.range?.(text) !== undefined;

  /**
   * Returns the version that a requested text selects, or an error if the text is malformed or the version is not supported.
   *
   * @param source the name of the source that contained the text, for messages
   */
  find(text: string, source: string): CompiledVersion | RequestError {
    if (text === 'latest') return this.newest;
    const listedVersion = this.#byText.get(text);
    if (listedVersion) return listedVersion;
    const version = Version.in(this.#scheme, text);
    const range = version ? undefined : this.#scheme.range?.(text);
    if (!version && !range)
      return new InvalidVersionHeader(
        `${source}: '${text}' is not a version: send ${this.#scheme.form}.`,
        this.served,
        text,
      );
    const selectedVersion = range ? this.#newestIn(range) : version && this.#below(version);
    return (
      selectedVersion ??
      new UnacceptableVersion(`Version ${text} is not supported. ${this.#supported()}`, this.served, text)
    );
  }

  /** Returns the error for requests that do not specify a version, if a version is required. */
  missingVersionError(sources: readonly string[]): RequestError {
    const message = `The request has no version: set ${sources.join(' or ')} to ${this.#scheme.form}. ${this.#supported()}`;
    return new RequestError('VERSION_REQUIRED', message, this.served);
  }

  #newestIn([from, below]: readonly [string, string]): CompiledVersion | undefined {
    const [first, end] = [Version.of(from, [this.#scheme]), Version.of(below, [this.#scheme])];
    return this.all.findLast(({ version }) => version.compare(first) >= 0 && version.compare(end) < 0);
  }

  #below(limit: Version): CompiledVersion | undefined {
    return this.#unlisted === 'previous' ? this.all.findLast(({ version }) => version.compare(limit) < 0) : undefined;
  }

  #supported(): string {
    const { min, max } = this.served;
    if (this.all.length > 10) return `${this.all.length} versions from ${min} to ${max} are supported.`;
    return `Supported versions: ${this.all.map(({ version }) => version.text).join(', ')}.`;
  }
}
