import type { ServerResponse } from 'node:http';
import { dates, startOfDayMs } from '../schemes.js';
import type { Version, VersionLike } from '../version.js';
import type { Window } from '../windowed.js';

/** A point in time: a `Date`, or a string that `Date` parses, such as `2027-01-31` or `2027-01-31T12:00:00Z`. */
export type DateLike = Date | string;

/** An API version with its life cycle: release, deprecation, sunset and brown-outs. */
export interface VersionRecord {
  readonly version: VersionLike;
  /** When the version was released. With the scheme `dates`, defaults to the date in the version. */
  readonly released?: DateLike;
  /** When the version becomes deprecated. Sent in the response header `Deprecation` (RFC 9745). */
  readonly deprecated?: DateLike;
  /** When the version ends. Sent in the response header `Sunset` (RFC 8594). */
  readonly sunset?: DateLike;
  /**
   * The URL of a page about the end of the version, and of the operations that it is the last version of. Sent in the
   * header `Link`, with the relations `deprecation` and `sunset`.
   */
  readonly guide?: string;
  /**
   * Brown-outs: periods in which the version is rejected temporarily, so that client authors notice in time that it
   * will end.
   */
  readonly brownouts?: readonly { readonly from: DateLike; readonly to: DateLike }[];
}

type Header = readonly [name: string, value: string];

interface Period {
  readonly from: number;
  readonly to: number;
}

/** A version with all headers and times that do not depend on the request. */
export interface CompiledVersion {
  readonly version: Version;
  readonly released: number | undefined;
  readonly sunset: number | undefined;
  readonly guide: string | undefined;
  readonly headers: readonly Header[];
  readonly brownouts: readonly Period[];
}

function timeOf(date: DateLike, label: string): number {
  const time = new Date(date).getTime();
  if (!Number.isFinite(time)) throw new TypeError(`versioning: ${label} is not a date: '${date}'; write 2027-01-31`);
  return time;
}

/**
 * Returns the headers `Deprecation: @1767225600` (RFC 9745), `Sunset: Thu, 31 Dec 2026 00:00:00 GMT` (RFC 8594), and
 * `Link`.
 */
function endHeaders(deprecated: number | undefined, sunset: number | undefined, guide: string | undefined): Header[] {
  const headers: Header[] = [];
  if (deprecated !== undefined) headers.push(['Deprecation', `@${Math.floor(deprecated / 1000)}`]);
  if (sunset !== undefined) headers.push(['Sunset', new Date(sunset).toUTCString()]);
  const relations = [deprecated !== undefined && 'deprecation', sunset !== undefined && 'sunset'].filter(Boolean);
  if (guide !== undefined && relations.length > 0)
    headers.push(['Link', relations.map((rel) => `<${guide}>; rel="${rel}"; type="text/html"`).join(', ')]);
  return headers;
}

const RECORD_FIELDS: Readonly<Record<keyof VersionRecord, true>> = {
  version: true,
  released: true,
  deprecated: true,
  sunset: true,
  guide: true,
  brownouts: true,
};

/**
 * Validates a version record and creates the headers of the version.
 *
 * @throws TypeError or RangeError if the record is invalid
 */
export function compileVersion(version: Version, record: Partial<VersionRecord>): CompiledVersion {
  const unknownField = Object.keys(record).find((name) => !Object.hasOwn(RECORD_FIELDS, name));
  if (unknownField)
    throw new TypeError(
      `versioning: unknown field '${unknownField}' of version ${version} (known: ${Object.keys(RECORD_FIELDS).join(', ')})`,
    );
  const timeOfField = (name: 'released' | 'deprecated' | 'sunset') => {
    const date = record[name];
    return date === undefined ? undefined : timeOf(date, `'${name}' of version ${version}`);
  };
  const released = timeOfField('released') ?? (version.scheme === dates ? startOfDayMs(version.text) : undefined);
  const [deprecated, sunset] = [timeOfField('deprecated'), timeOfField('sunset')];
  if (deprecated !== undefined && sunset !== undefined && sunset < deprecated)
    throw new RangeError(
      `versioning: version ${version} ends before it is deprecated: RFC 9745 requires the opposite order`,
    );
  if (record.guide !== undefined && /[<>\s"]/.test(record.guide))
    throw new TypeError(`versioning: 'guide' of version ${version} is not a URL: '${record.guide}'`);
  const brownouts = (record.brownouts ?? []).map((period) => ({
    from: timeOf(period.from, `a brown-out of version ${version}`),
    to: timeOf(period.to, `a brown-out of version ${version}`),
  }));
  const { guide } = record;
  return { version, released, sunset, guide, headers: endHeaders(deprecated, sunset, guide), brownouts };
}

/** Writes response headers. A `Link` header is appended to existing links. */
export function writeHeaders(res: ServerResponse, headers: readonly Header[]): void {
  for (const [name, value] of headers) {
    if (name === 'Link') res.appendHeader(name, value);
    else res.setHeader(name, value);
  }
}

/**
 * Returns the headers that announce the end of an operation or another element, if no later version has it. `Link`
 * contains the guide of the last version that has the element.
 */
function endHeadersOfWindows(
  versions: readonly CompiledVersion[],
  windows: readonly Window<unknown>[],
  version: Version,
): Header[] {
  const end = windows.find((window) => window.has(version))?.end;
  const firstLaterIndex = end ? versions.findIndex((candidate) => candidate.version.compare(end) >= 0) : -1;
  const laterVersions = firstLaterIndex < 0 ? [] : versions.slice(firstLaterIndex);
  // An element that a later version has again, even in another format, has not ended.
  if (laterVersions.some((candidate) => windows.some((window) => window.has(candidate.version)))) return [];
  if (laterVersions.length === 0) return [];
  const last = versions[firstLaterIndex - 1];
  const ownSunset = versions.find((candidate) => candidate.version.compare(version) === 0)?.sunset;
  return endHeaders(laterVersions[0]?.released, ownSunset === undefined ? last?.sunset : undefined, last?.guide);
}

/** Writes the headers that announce the end of an operation, or of another element with windows, if no later version has it. */
export type WriteEndHeaders = (res: ServerResponse, windows: readonly Window<unknown>[], version: Version) => void;

/** Creates a function that writes `Deprecation`, `Sunset` and `Link` headers for elements with windows. It caches the headers. */
export function createEndHeadersWriter(versions: readonly CompiledVersion[]): WriteEndHeaders {
  const cache = new WeakMap<readonly Window<unknown>[], Map<string, readonly Header[]>>();
  return (res, windows, version) => {
    // The version's own `Deprecation` and `Sunset` headers, with their links, take precedence.
    if (res.headersSent || res.hasHeader('Deprecation')) return;
    let headersByVersion = cache.get(windows);
    if (!headersByVersion) cache.set(windows, (headersByVersion = new Map()));
    let headers = headersByVersion.get(version.text);
    if (!headers) headersByVersion.set(version.text, (headers = endHeadersOfWindows(versions, windows, version)));
    writeHeaders(res, headers);
  };
}
