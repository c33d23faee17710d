import { type IncomingMessage, type ServerResponse, validateHeaderName } from 'node:http';
import { problem } from '../error-bodies/problem.js';
import { RequestError } from '../errors.js';
import { type ErrorsOption, errorRenderer, sendError, storeNegotiationContext } from '../negotiation/error-response.js';
import { memoizeParser } from '../negotiation/memoized.js';
import { storeVersion } from '../negotiation/negotiated.js';
import { rejectUnknownOptions } from '../negotiation/reject-unknown.js';
import { preserveVary } from '../negotiation/vary.js';
import type { VersionMiddleware } from '../negotiation/version-middleware.js';
import type { VersionScheme } from '../schemes.js';
import type { Version, VersionLike } from '../version.js';
import { type CompiledVersion, createEndHeadersWriter, type VersionRecord, writeHeaders } from './lifecycle.js';
import { header, type VersionSource } from './sources.js';
import { type UnlistedVersions, VersionList } from './version-list.js';

/**
 * Returns the version of a client whose request does not specify one, such as the version that its account is pinned to.
 * Undefined and null select the oldest version.
 */
export type ClientVersion = (
  req: IncomingMessage,
) => VersionLike | null | undefined | Promise<VersionLike | null | undefined>;

/** An accepted request, which is passed to `onVersion`. */
export interface VersionUse {
  readonly version: Version;
  /** The source that contained the version, such as `API-Version`; undefined if the request did not specify one. */
  readonly source: string | undefined;
  readonly req: IncomingMessage;
}

/** Options for {@link versioning}: the versions of an API, and where requests specify them. */
export interface VersioningOptions {
  /**
   * All versions, in any order: strings such as `2026-11-22`, `2.27`, `1.4.2` or `7`, or records that include the
   * version's life cycle.
   */
  readonly versions: readonly (VersionLike | VersionRecord)[];
  /** A custom version format. Default: the format is detected from the versions. */
  readonly scheme?: VersionScheme;
  /** Where requests specify their version; the first source that contains one applies. Default: `header('API-Version')`. */
  readonly from?: VersionSource | readonly VersionSource[];
  /**
   * The version of requests that do not specify one: `oldest`, `newest`, a version, or a function that returns the version of
   * the client. `required` rejects these requests with 400. Default `oldest`.
   */
  readonly default?: 'oldest' | 'newest' | 'required' | VersionLike | ClientVersion;
  /**
   * How a requested version that is not listed is handled: `reject` (406), or `previous`, which selects the newest
   * version below it. Default `reject`.
   */
  readonly unlisted?: UnlistedVersions;
  /** Whether versions are still served after their `sunset`, or rejected with 410. Default `serve`. */
  readonly afterSunset?: 'serve' | 'reject';
  /** The response header that contains the version. Default: the first header source's name, or `API-Version`; `false` for none. */
  readonly responseHeader?: string | false;
  /** How errors are sent: `problem` (RFC 9457), `json`, a function, or `next` for your error handler. Default `problem`. */
  readonly errors?: Exclude<ErrorsOption, 'documented'>;
  /** Called with the version of each accepted request. Must not throw. */
  readonly onVersion?: (use: VersionUse) => void;
  /** Returns the current time in milliseconds since 1970, for tests. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Middleware for Express 4 and 5. In bare `node:http`, pass the rest of the handler as `next`. */
export interface VersioningMiddleware extends VersionMiddleware {
  (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => unknown): void;
}

const VERSIONING_OPTIONS: Readonly<Record<keyof VersioningOptions, true>> = {
  versions: true,
  scheme: true,
  from: true,
  default: true,
  unlisted: true,
  afterSunset: true,
  responseHeader: true,
  errors: true,
  onVersion: true,
  now: true,
};

/** The response headers that announce the end of a version or operation, or that a brown-out sets. */
const END_HEADERS = ['Deprecation', 'Sunset', 'Link', 'Retry-After'];

function checkChoice<T extends string>(option: string, value: T, choices: readonly T[]): T {
  if (choices.includes(value)) return value;
  throw new TypeError(
    `versioning: '${option}' must be ${choices.map((choice) => `'${choice}'`).join(' or ')}, not '${value}'`,
  );
}

function responseHeaderOf(
  { responseHeader }: VersioningOptions,
  sources: readonly VersionSource[],
): string | undefined {
  if (responseHeader === false) return undefined;
  const sourceHeader = sources.find(({ vary: varyNames }) => varyNames !== undefined && varyNames !== 'Accept')?.vary;
  const name = responseHeader ?? sourceHeader ?? 'API-Version';
  validateHeaderName(name);
  return name;
}

/**
 * Creates middleware that negotiates the version of each request, in any format (dates, semver, integers, `MAJOR.MINOR`) and
 * from any part of the request. It sets `req.microversion`, adds the version to the response headers, keeps `Vary` complete,
 * announces when versions end, and rejects versions that are not supported.
 *
 * @throws TypeError or RangeError if an option is invalid; the message contains the fix
 *
 * @example
 * ```ts
 * import { before, byVersion, since, versioning } from '@apistrata/microversion';
 * import express from 'express';
 *
 * const app = express();
 * app.use(versioning({ versions: ['2025-03-01', '2026-11-22'] }));
 * app.get('/', byVersion([before('2026-11-22', (_req, res) => void res.json([])), since('2026-11-22', (_req, res) => void res.json({}))]));
 * ```
 */
export function versioning(options: VersioningOptions): VersioningMiddleware {
  rejectUnknownOptions('versioning', options, Object.keys(VERSIONING_OPTIONS));
  const list = new VersionList(
    options.versions,
    checkChoice('unlisted', options.unlisted ?? 'reject', ['reject', 'previous']),
    options.scheme,
  );
  const sources: readonly VersionSource[] = [options.from ?? header('API-Version')].flat();
  const rejectsEndedVersions =
    checkChoice('afterSunset', options.afterSunset ?? 'serve', ['serve', 'reject']) === 'reject';
  const responseHeader = responseHeaderOf(options, sources);
  const varyNames = [...new Set(sources.flatMap((source) => source.vary ?? []))];
  const { onVersion, now = Date.now } = options;
  const render = errorRenderer(options.errors ?? 'problem', problem());
  const versionFinders = sources.map((source) =>
    memoizeParser(
      (text) => list.find(text, source.name),
      (found) => !(found instanceof RequestError),
    ),
  );
  const defaultVersion = resolveDefault(options.default ?? 'oldest');
  const context = {
    render,
    served: list.served,
    writeEndHeaders: createEndHeadersWriter(list.all),
  };

  function resolveDefault(setting: NonNullable<VersioningOptions['default']>) {
    if (setting === 'required') {
      const names = sources.map(({ name }) => name);
      return () => list.missingVersionError(names);
    }
    if (setting === 'oldest') return () => list.oldest;
    if (setting === 'newest') return () => list.newest;
    if (typeof setting !== 'function') {
      const fixedVersion = list.find(String(setting), 'default');
      if (fixedVersion instanceof RequestError)
        throw new RangeError(`versioning: 'default' is not one of the versions: ${fixedVersion.message}`);
      return () => fixedVersion;
    }
    const pinnedVersionOf = (version: VersionLike | null | undefined) =>
      version === undefined || version === null ? list.oldest : list.find(String(version), 'default');
    return (req: IncomingMessage) => {
      const version = setting(req);
      return version instanceof Promise ? version.then(pinnedVersionOf) : pinnedVersionOf(version);
    };
  }

  /** Rejects a version that has ended or is in a brown-out. */
  function rejectEndedVersion({ version, sunset, brownouts }: CompiledVersion, res: ServerResponse): void {
    if (brownouts.length === 0 && !(rejectsEndedVersions && sunset !== undefined)) return;
    const time = now();
    if (rejectsEndedVersions && sunset !== undefined && time >= sunset)
      throw new RequestError(
        'VERSION_GONE',
        `Version ${version} ended on ${new Date(sunset).toISOString().slice(0, 10)}.`,
        list.served,
      );
    const brownout = brownouts.find(({ from, to }) => from <= time && time < to);
    if (!brownout) return;
    res.setHeader('Retry-After', Math.ceil((brownout.to - time) / 1000));
    const end = new Date(brownout.to).toISOString();
    throw new RequestError(
      'VERSION_GONE',
      `Version ${version} is about to end and is unavailable until ${end}.`,
      list.served,
    );
  }

  /**
   * Accepts a request at the selected version, or throws the error for a rejected request. Writes response headers in
   * both cases.
   */
  function acceptOrReject(
    req: IncomingMessage,
    res: ServerResponse,
    found: CompiledVersion | RequestError,
    source: VersionSource | undefined,
  ): Version {
    if (!res.headersSent && varyNames.length > 0) preserveVary(res, varyNames);
    if (found instanceof RequestError) throw found;
    const { version, headers } = found;
    if (!res.headersSent) {
      if (responseHeader !== undefined) res.setHeader(responseHeader, version.text);
      writeHeaders(res, headers);
    }
    rejectEndedVersion(found, res);
    source?.accepted?.(req);
    storeVersion(req, version);
    storeNegotiationContext(req, context);
    onVersion?.({ version, source: source?.name, req });
    return version;
  }

  function negotiate(req: IncomingMessage, res: ServerResponse): Version | Promise<Version> {
    for (const [index, source] of sources.entries()) {
      const text = source.read(req, list.isVersion);
      const found = text === undefined ? undefined : versionFinders[index]?.(text);
      if (found) return acceptOrReject(req, res, found, source);
    }
    const found = defaultVersion(req);
    return found instanceof Promise
      ? found.then((version) => acceptOrReject(req, res, version, undefined))
      : acceptOrReject(req, res, found, undefined);
  }

  function versioningMiddleware(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => unknown): void {
    const reject = (error: unknown) =>
      void (error instanceof RequestError ? sendError({ error, render }, req, res, next) : next(error));
    let version: Version | Promise<Version>;
    try {
      version = negotiate(req, res);
    } catch (error) {
      reject(error);
      return;
    }
    // `next` runs outside of `try`, because the application handles its errors.
    if (version instanceof Promise) version.then(() => void next(), reject);
    else next();
  }

  const pathSource = sources.find(({ accepted }) => accepted !== undefined)?.name;
  const headers = {
    read: varyNames,
    written: [...(responseHeader === undefined ? [] : [responseHeader]), ...END_HEADERS],
  };
  return Object.assign(versioningMiddleware, { negotiate, errorBody: render, headers, pathSource });
}
