import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { InvalidVersionHeader, Served, UnacceptableVersion } from '../errors.js';
import { Version, type VersionLike } from '../version.js';
import { type FlavourName, flavours } from './flavours.js';
import { type HeaderNames, type HeaderPreset, headerNamesFrom } from './header-names.js';
import { serveAt } from './negotiated.js';
import { refuseUnknown } from './refuse-unknown.js';
import { bareVersionIn, typedVersionIn } from './requested-version.js';
import { appendVary, holdVary } from './vary.js';

/** The versions that are served, and the headers that name them. */
export interface NegotiatorOptions {
  /** Service type as it stands in front of the version: `compute`. Compared without regard to letter case. */
  readonly service: string;
  /** Lowest version served, and the one of requests that name none. */
  readonly min: VersionLike;
  /** Highest version served, and what `latest` means. */
  readonly max: VersionLike;
  /** Names of the version headers: a preset or own names. Default `service`. */
  readonly headers?: HeaderPreset | Partial<HeaderNames>;
  /** `strict` reads versions as the compute API does; `generic` leniently, from typed headers only. Default `strict`. */
  readonly flavour?: FlavourName;
  /** Serves everything at this version: version headers are neither read nor written. For mounts older than microversions. */
  readonly pinned?: VersionLike;
  /**
   * Told of the version of each request that `apply` and the middleware let pass: who still uses which. `asked` is
   * false for requests that named none. It throws nothing.
   */
  readonly onVersion?: (version: Version, asked: boolean, req: IncomingMessage) => void;
}

/** What a request's headers come to. */
export type Negotiation =
  | { readonly ok: true; readonly version: Version }
  | { readonly ok: false; readonly error: InvalidVersionHeader | UnacceptableVersion };

/** Finds the version in request headers (names in lower case, as `req.headers` has them). A pure function. */
export interface Negotiator {
  (headers: IncomingHttpHeaders): Negotiation;
  readonly served: Served;
  /**
   * Writes the version headers and appends one `Vary` line per header name, typed names first.
   * A `Vary` set later replaces these lines: call it when the answer is complete, or use {@link Negotiator.apply}.
   */
  readonly applyVersionHeaders: (res: ServerResponse, version: VersionLike) => void;
  /** The same for an error: the refused version on a 406 of the strict flavour, nothing on a 400. */
  readonly applyErrorHeaders: (res: ServerResponse, error: InvalidVersionHeader | UnacceptableVersion) => void;
  /**
   * Negotiates for one request: sets `req.microversion`, writes the version headers and holds their `Vary` lines until
   * the head is written, whatever else sets `Vary`. Throws what negotiation finds wrong, with the headers of that error written.
   */
  readonly apply: (req: IncomingMessage, res: ServerResponse) => Version;
}

const OPTIONS: Readonly<Record<keyof NegotiatorOptions, true>> = {
  service: true,
  min: true,
  max: true,
  headers: true,
  flavour: true,
  pinned: true,
  onVersion: true,
};

export const negotiatorOptionNames = Object.keys(OPTIONS);

/** Header texts whose result is kept. Few are ever in use, but the client writes them. */
const KNOWN_TEXTS = 512;
const LONGEST_KNOWN_TEXT = 64;

function servedBy({ service, min, max }: NegotiatorOptions): Served {
  if (typeof service !== 'string' || !/^[!-+\--~]+$/.test(service))
    throw new TypeError(`microversion: 'service' is one word without commas, like 'compute'; it is '${service}'`);
  const served = { service, min: Version.of(min), max: Version.of(max) };
  if (served.min.compare(served.max) > 0)
    throw new RangeError(`microversion: min ${served.min} is above max ${served.max}: swap them`);
  return Object.freeze(served);
}

/** An accepted version with the text of its typed headers, made once: joining texts per request would show in the budget. */
interface Accepted {
  readonly ok: true;
  readonly version: Version;
  readonly typedText: string;
}

type Read = Accepted | Extract<Negotiation, { ok: false }>;

/** Remembers the accepted header texts of one form. Refused ones are not worth the room. */
function remembering<R extends Read | undefined>(read: (text: string) => R): (text: string) => R {
  const known = new Map<string, R>();
  return (text) => {
    const before = known.get(text);
    if (before) return before;
    const negotiation = read(text);
    if (negotiation?.ok && text.length <= LONGEST_KNOWN_TEXT) {
      if (known.size >= KNOWN_TEXTS) known.clear();
      known.set(text, negotiation);
    }
    return negotiation;
  };
}

function textOf(value: string | string[]): string {
  return typeof value === 'string' ? value : value.join(',');
}

/**
 * Compiles the negotiation of a service. The middleware is made of it; use it directly to negotiate after routing.
 *
 * @throws TypeError or RangeError that names the cure, for options that make no sense
 */
export function negotiator(options: NegotiatorOptions): Negotiator {
  refuseUnknown('negotiator', options, negotiatorOptionNames);
  const served = servedBy(options);
  const flavour = flavours[options.flavour ?? 'strict'];
  if (!flavour) throw new TypeError(`microversion: no flavour '${options.flavour}', there are strict, generic`);
  const names = headerNamesFrom(options.headers ?? 'service');
  const { onVersion } = options;
  const typed = names.typed;
  const bare = flavour.bareHeaders ? names.bare : [];
  const vary = [...typed, ...bare];
  const typedKeys = typed.map((name) => name.toLowerCase());
  const bareKeys = bare.map((name) => name.toLowerCase());
  const service = served.service.toLowerCase();
  const pinned = options.pinned === undefined ? undefined : Version.of(options.pinned);

  const typedText = (text: string) => `${served.service} ${text}`;
  const accepted = (version: Version): Accepted => ({ ok: true, version, typedText: typedText(version.text) });
  const atMinimum = accepted(pinned ?? served.min);
  const atMaximum = accepted(served.max);

  function interpret(text: string): Read {
    if (text === 'latest') return atMaximum;
    const normal = flavour.normalize(text);
    if (normal === undefined) return { ok: false, error: flavour.invalid(served, text) };
    const version = Version.parse(normal);
    if (!version?.within(served.min, served.max)) return { ok: false, error: flavour.unacceptable(served, normal) };
    return accepted(version);
  }

  const readTyped = remembering((text) => {
    const version = typedVersionIn(text, service);
    return version === undefined ? undefined : interpret(version);
  });
  const readBare = remembering((text) => interpret(bareVersionIn(text)));

  function negotiate(headers: IncomingHttpHeaders): Read {
    if (pinned) return atMinimum;
    for (const key of typedKeys) {
      const value = headers[key];
      const negotiation = value === undefined ? undefined : readTyped(textOf(value));
      if (negotiation) return negotiation;
    }
    for (const key of bareKeys) {
      const value = headers[key];
      if (value !== undefined) return readBare(textOf(value));
    }
    return atMinimum;
  }

  function writeVersion(res: ServerResponse, text: string, withService: string): void {
    for (const name of typed) res.setHeader(name, withService);
    for (const name of bare) res.setHeader(name, text);
  }

  function applyVersionHeaders(res: ServerResponse, version: VersionLike): void {
    if (pinned || res.headersSent) return;
    const text = String(version);
    writeVersion(res, text, typedText(text));
    appendVary(res, vary);
  }

  function applyErrorHeaders(res: ServerResponse, error: InvalidVersionHeader | UnacceptableVersion): void {
    if (flavour.echoRefused && error.code === 'UNACCEPTABLE_VERSION') applyVersionHeaders(res, error.version);
  }

  function apply(req: IncomingMessage, res: ServerResponse): Version {
    const negotiation = negotiate(req.headers);
    if (!negotiation.ok) {
      applyErrorHeaders(res, negotiation.error);
      throw negotiation.error;
    }
    serveAt(req, negotiation.version);
    onVersion?.(negotiation.version, negotiation !== atMinimum, req);
    if (!pinned && !res.headersSent) {
      writeVersion(res, negotiation.version.text, negotiation.typedText);
      holdVary(res, vary);
    }
    return negotiation.version;
  }

  return Object.assign(negotiate, { served, applyVersionHeaders, applyErrorHeaders, apply });
}
