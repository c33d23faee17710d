import { InvalidVersionHeader, type SupportedVersions, UnacceptableVersion } from '../errors.js';
import { Version } from '../version.js';

/**
 * How versions are parsed and rejected: `strict` as in the compute API, `generic` as in the lenient middleware of
 * smaller services.
 */
export type HeaderStyleName = 'strict' | 'generic';

export interface HeaderStyle {
  /** Whether bare headers are read and written in addition to typed ones. */
  readonly bareHeaders: boolean;
  /** Whether a 406 response repeats the rejected version in the version headers. */
  readonly echoesRejectedVersion: boolean;
  /** Normalizes a version, for example to `2.27`. Returns undefined if the text is not a version. */
  readonly normalize: (text: string) => string | undefined;
  readonly createInvalidError: (served: SupportedVersions, text: string) => InvalidVersionHeader;
  readonly createUnacceptableError: (served: SupportedVersions, version: string) => UnacceptableVersion;
}

/**
 * Matches a version in the `generic` style: two integers, which may have signs, underscores, and spaces around the dot.
 */
const LENIENT_VERSION = /^([-+]?\d+(?:_\d+)*)[ \t]*\.[ \t]*([-+]?\d+(?:_\d+)*)$/;

/** Removes plus signs, underscores and leading zeros from an integer. */
function normalizeInteger(text: string): string {
  const digits = text.replaceAll(/[-+_]/g, '').replace(/^0+(?=\d)/, '');
  return text.startsWith('-') && digits !== '0' ? `-${digits}` : digits;
}

export const headerStyles: Readonly<Record<HeaderStyleName, HeaderStyle>> = {
  strict: {
    bareHeaders: true,
    echoesRejectedVersion: true,
    normalize: (text) => Version.parse(text)?.text,
    createInvalidError: (served, text) =>
      new InvalidVersionHeader(
        `API Version String ${text} is of invalid format. Must be of format MajorNum.MinorNum.`,
        served,
        text,
      ),
    createUnacceptableError: (served, version) =>
      new UnacceptableVersion(
        `Version ${version} is not supported by the API. Minimum is ${served.min} and maximum is ${served.max}.`,
        served,
        version,
      ),
  },
  generic: {
    bareHeaders: false,
    echoesRejectedVersion: false,
    normalize: (text) => {
      const [, major, minor] = LENIENT_VERSION.exec(text) ?? [];
      if (major === undefined || minor === undefined) return undefined;
      return `${normalizeInteger(major)}.${normalizeInteger(minor)}`;
    },
    createInvalidError: (served, text) =>
      new InvalidVersionHeader(`Invalid microversion: not two numbers joined by a dot: ${text}`, served, text),
    createUnacceptableError: (served, version) =>
      new UnacceptableVersion(`Invalid microversion: Unacceptable version header: ${version}`, served, version),
  },
};
