import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { InvalidVersionHeader, SupportedVersions, UnacceptableVersion } from '../errors.js';
import { majorMinor } from '../schemes.js';
import { Version, type VersionLike } from '../version.js';
import { type HeaderNames, type HeaderPreset, headerNamesFrom } from './header-names.js';
import { type HeaderStyleName, headerStyles } from './header-styles.js';
import { memoizeParser } from './memoized.js';
import { storeVersion } from './negotiated.js';
import { rejectUnknownOptions } from './reject-unknown.js';
import { bareVersionIn, typedVersionIn } from './requested-version.js';
import { appendVary, preserveVary } from './vary.js';

/** Options for {@link negotiator}: the supported versions, and the headers that carry the version. */
export interface NegotiatorOptions {
  /** The service type that precedes the version in typed headers, such as `compute`. Case-insensitive. */
  readonly service: string;
  /** Lowest supported version. Requests that do not specify a version are served at this version. */
  readonly min: VersionLike;
  /** Highest supported version, which `latest` selects. */
  readonly max: VersionLike;
  /** Names of the version headers: a preset or custom names. Default `service`. */
  readonly headers?: HeaderPreset | Partial<HeaderNames>;
  /** `strict` parses versions as the compute API does; `generic` parses leniently, from typed headers only. Default `strict`. */
  readonly headerStyle?: HeaderStyleName;
  /**
   * Serves all requests at this version; version headers are neither read nor written. For the paths of an API that
   * predates microversions.
   */
  readonly pinned?: VersionLike;
  /**
   * Called with the version of each accepted request, to count requests by version. `requested` is false if the request did
   * not specify a version. Must not throw.
   */
  readonly onVersion?: (version: Version, requested: boolean, req: IncomingMessage) => void;
}

/** The result of version negotiation. */
export type Negotiation =
  | { readonly ok: true; readonly version: Version }
  | { readonly ok: false; readonly error: InvalidVersionHeader | UnacceptableVersion };

/** Negotiates the version from request headers (names in lower case, as in `req.headers`). The function has no side effects. */
export interface Negotiator {
  (headers: IncomingHttpHeaders): Negotiation;
  readonly served: SupportedVersions;
  /** The names of all version headers, typed ones first; none if the version is pinned. */
  readonly headerNames: readonly string[];
  /**
   * Writes the version headers and appends one `Vary` line per header name, typed names first.
   * Code that sets `Vary` later replaces these lines: call this function last, or use {@link Negotiator.apply}.
   */
  readonly applyVersionHeaders: (res: ServerResponse, version: VersionLike) => void;
  /** Writes the version headers of an error response: the rejected version for a 406 in the style `strict`, otherwise none. */
  readonly applyErrorHeaders: (res: ServerResponse, error: InvalidVersionHeader | UnacceptableVersion) => void;
  /**
   * Negotiates one request: sets `req.microversion`, writes the version headers, and preserves their `Vary` lines even if other
   * code sets `Vary` later. If negotiation fails, writes the headers of the error response and throws the error.
   */
  readonly apply: (req: IncomingMessage, res: ServerResponse) => Version;
}

const NEGOTIATOR_OPTIONS: Readonly<Record<keyof NegotiatorOptions, true>> = {
  service: true,
  min: true,
  max: true,
  headers: true,
  headerStyle: true,
  pinned: true,
  onVersion: true,
};

export const negotiatorOptionNames = Object.keys(NEGOTIATOR_OPTIONS);

function supportedVersions({ service, min, max }: NegotiatorOptions): SupportedVersions {
  if (typeof service !== 'string' || !/^[!-+\--~]+$/.test(service))
    throw new TypeError(`microversion: 'service' must be one word without commas, like 'compute', not '${service}'`);
  const served = { service, min: Version.of(min, [majorMinor]), max: Version.of(max, [majorMinor]) };
  if (served.min.compare(served.max) > 0)
    throw new RangeError(`microversion: min ${served.min} is above max ${served.max}: swap them`);
  return Object.freeze(served);
}

/**
 * An accepted version and its value in typed headers, which is cached because building it for each request has a
 * measurable cost.
 */
interface AcceptedVersion {
  readonly ok: true;
  readonly version: Version;
  readonly typedText: string;
}

type CachedNegotiation = AcceptedVersion | Extract<Negotiation, { ok: false }>;

const isAccepted = (negotiation: CachedNegotiation): negotiation is AcceptedVersion => negotiation.ok;

function headerText(value: string | string[]): string {
  return typeof value === 'string' ? value : value.join(',');
}

/**
 * Creates the function that negotiates versions for the `microversion()` middleware. Use it directly to negotiate after
 * routing.
 *
 * @throws TypeError or RangeError if an option is invalid; the message contains the fix
 */
export function negotiator(options: NegotiatorOptions): Negotiator {
  rejectUnknownOptions('negotiator', options, negotiatorOptionNames);
  const served = supportedVersions(options);
  const headerStyle = headerStyles[options.headerStyle ?? 'strict'];
  if (!headerStyle)
    throw new TypeError(`microversion: headerStyle must be 'strict' or 'generic', not '${options.headerStyle}'`);
  const names = headerNamesFrom(options.headers ?? 'service');
  const { onVersion } = options;
  const typedNames = names.typed;
  const bareNames = headerStyle.bareHeaders ? names.bare : [];
  const varyNames = [...typedNames, ...bareNames];
  const typedKeys = typedNames.map((name) => name.toLowerCase());
  const bareKeys = bareNames.map((name) => name.toLowerCase());
  const service = served.service.toLowerCase();
  const pinnedVersion = options.pinned === undefined ? undefined : Version.of(options.pinned);

  const typedText = (text: string) => `${served.service} ${text}`;
  const createAcceptedVersion = (version: Version): AcceptedVersion => ({
    ok: true,
    version,
    typedText: typedText(version.text),
  });
  const minimumNegotiation = createAcceptedVersion(pinnedVersion ?? served.min);
  const maximumNegotiation = createAcceptedVersion(served.max);

  function negotiateText(text: string): CachedNegotiation {
    if (text === 'latest') return maximumNegotiation;
    const normalizedText = headerStyle.normalize(text);
    if (normalizedText === undefined) return { ok: false, error: headerStyle.createInvalidError(served, text) };
    const version = Version.parse(normalizedText);
    if (!version?.within(served.min, served.max))
      return { ok: false, error: headerStyle.createUnacceptableError(served, normalizedText) };
    return createAcceptedVersion(version);
  }

  const readTyped = memoizeParser((text) => {
    const version = typedVersionIn(text, service);
    return version === undefined ? undefined : negotiateText(version);
  }, isAccepted);
  const readBare = memoizeParser((text) => negotiateText(bareVersionIn(text)), isAccepted);

  function negotiate(headers: IncomingHttpHeaders): CachedNegotiation {
    if (pinnedVersion) return minimumNegotiation;
    for (const key of typedKeys) {
      const value = headers[key];
      const negotiation = value === undefined ? undefined : readTyped(headerText(value));
      if (negotiation) return negotiation;
    }
    for (const key of bareKeys) {
      const value = headers[key];
      if (value !== undefined) return readBare(headerText(value));
    }
    return minimumNegotiation;
  }

  function writeVersion(res: ServerResponse, bareValue: string, typedValue: string): void {
    for (const name of typedNames) res.setHeader(name, typedValue);
    for (const name of bareNames) res.setHeader(name, bareValue);
  }

  function applyVersionHeaders(res: ServerResponse, version: VersionLike): void {
    if (pinnedVersion || res.headersSent) return;
    const text = String(version);
    writeVersion(res, text, typedText(text));
    appendVary(res, varyNames);
  }

  function applyErrorHeaders(res: ServerResponse, error: InvalidVersionHeader | UnacceptableVersion): void {
    if (headerStyle.echoesRejectedVersion && error.code === 'UNACCEPTABLE_VERSION')
      applyVersionHeaders(res, error.version);
  }

  function apply(req: IncomingMessage, res: ServerResponse): Version {
    const negotiation = negotiate(req.headers);
    if (!negotiation.ok) {
      applyErrorHeaders(res, negotiation.error);
      throw negotiation.error;
    }
    storeVersion(req, negotiation.version);
    onVersion?.(negotiation.version, negotiation !== minimumNegotiation, req);
    if (!pinnedVersion && !res.headersSent) {
      writeVersion(res, negotiation.version.text, negotiation.typedText);
      preserveVary(res, varyNames);
    }
    return negotiation.version;
  }

  const headerNames = pinnedVersion ? [] : varyNames;
  return Object.assign(negotiate, { served, headerNames, applyVersionHeaders, applyErrorHeaders, apply });
}
