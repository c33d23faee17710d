import type { IncomingMessage, ServerResponse } from 'node:http';
import { rejectUnknownOptions } from './negotiation/reject-unknown.js';
import { requestBase, type TrustProxy } from './request-base.js';
import { Version, type VersionLike } from './version.js';

/** A major version of an API, as the discovery documents describe it. */
export interface ApiVersion {
  /** The identifier of the version, such as `v2.1`. */
  readonly id: string;
  /** The path of this version below the base URL of the API. Default `/<id>/`; a trailing slash is added. */
  readonly path?: string;
  readonly status: 'CURRENT' | 'SUPPORTED' | 'DEPRECATED' | 'EXPERIMENTAL';
  /** The lowest microversion. Omitted for major versions without microversions. */
  readonly min?: VersionLike;
  /** The highest microversion. Omitted for major versions without microversions. */
  readonly max?: VersionLike;
  /** When the version last changed, such as `2013-07-23T11:33:21Z`. */
  readonly updated: string;
  /** The media types that this version supports, listed in its document and in the 300 response. */
  readonly mediaTypes?: readonly { readonly base: string; readonly type: string }[];
  /** URL of the HTML documentation of this version. */
  readonly describedBy?: string;
}

/** Options for {@link discovery}: the versions to list, and the base URL of their links. */
export interface DiscoveryOptions {
  /** The major versions of the API, oldest first. */
  readonly versions: readonly ApiVersion[];
  /** Whether `X-Forwarded-*` headers are trusted; see `requestBase`. */
  readonly trustProxy?: TrustProxy;
  /** The base URL of the API, without a trailing slash. Default: derived from the request. */
  readonly base?: string | ((req: IncomingMessage) => string);
}

/** A link in a version document. */
export interface VersionLink {
  readonly rel: string;
  readonly href: string;
  readonly type?: string;
}

/** An entry in the list of API versions. For a version without microversions, `version` and `min_version` are empty strings. */
export interface VersionEntry {
  readonly id: string;
  readonly status: string;
  readonly version: string;
  readonly min_version: string;
  readonly updated: string;
  readonly links: readonly VersionLink[];
}

/** The discovery document of one API version. */
export interface VersionDetail extends VersionEntry {
  readonly 'media-types': readonly { readonly base: string; readonly type: string }[];
}

/** An API version that a 300 response offers to a request without a version in its path. */
export interface VersionChoice {
  readonly id: string;
  readonly status: string;
  readonly links: readonly VersionLink[];
  readonly 'media-types': readonly { readonly base: string; readonly type: string }[];
}

type DocumentHandler = (req: IncomingMessage, res: ServerResponse) => void;

/** Returns discovery documents as data, or handlers that send them. The handlers respond to any method and path. */
export interface Discovery {
  /** Returns `{ versions: [...] }`, for the root of the API. */
  readonly listOf: (req: IncomingMessage) => { readonly versions: readonly VersionEntry[] };
  /** Returns `{ version: {...} }`, for the root path of one API version. @throws RangeError if the id is unknown */
  readonly documentOf: (req: IncomingMessage, id: string) => { readonly version: VersionDetail };
  /** Returns `{ choices: [...] }`, for a path without a version, such as `/servers`, relative to the base URL. */
  readonly choicesOf: (req: IncomingMessage, path: string) => { readonly choices: readonly VersionChoice[] };
  /**
   * Sends the result of {@link Discovery.listOf} with status 200. Mount it before `microversion()`, because requests to
   * the root have no microversion.
   */
  readonly list: DocumentHandler;
  /** Creates a handler that sends the result of {@link Discovery.documentOf} with status 200. */
  readonly document: (id: string) => DocumentHandler;
  /** Sends the result of {@link Discovery.choicesOf} for the request path, with status 300. */
  readonly choices: DocumentHandler;
}

const DISCOVERY_OPTIONS: Readonly<Record<keyof DiscoveryOptions, true>> = {
  versions: true,
  trustProxy: true,
  base: true,
};

const VERSION_KEYS: Readonly<Record<keyof ApiVersion, true>> = {
  id: true,
  path: true,
  status: true,
  min: true,
  max: true,
  updated: true,
  mediaTypes: true,
  describedBy: true,
};

/** An API version with its full path, and its lowest and highest microversion as strings. */
interface KnownVersion {
  readonly definition: ApiVersion;
  /** The path, which starts and ends with a slash. */
  readonly path: string;
  readonly min: string;
  readonly max: string;
}

function checkVersion(definition: ApiVersion): KnownVersion {
  rejectUnknownOptions('discovery version', definition, Object.keys(VERSION_KEYS));
  const { id, path, min, max } = definition;
  const trimmedPath = (path ?? id).replace(/^\/+|\/+$/g, '');
  const versionText = (version: VersionLike | undefined) => (version === undefined ? '' : Version.of(version).text);
  return {
    definition,
    path: trimmedPath === '' ? '/' : `/${trimmedPath}/`,
    min: versionText(min),
    max: versionText(max),
  };
}

function sendJson(res: ServerResponse, status: number, document: object): void {
  const body = JSON.stringify(document);
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json');
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.end(body);
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const queryStart = url.indexOf('?');
  return queryStart < 0 ? url : url.slice(0, queryStart);
}

/** Creates the documents from which clients discover the major versions and microversions of an API. Links are absolute. */
export function discovery(options: DiscoveryOptions): Discovery {
  rejectUnknownOptions('discovery', options, Object.keys(DISCOVERY_OPTIONS));
  const versions = options.versions.map(checkVersion);

  function baseOf(req: IncomingMessage): string {
    const { base } = options;
    if (base === undefined) return requestBase(req, options.trustProxy);
    return (typeof base === 'string' ? base : base(req)).replace(/\/+$/, '');
  }

  function createEntry({ definition, path, min, max }: KnownVersion, base: string): VersionEntry {
    return {
      id: definition.id,
      status: definition.status,
      version: max,
      min_version: min,
      updated: definition.updated,
      links: [{ rel: 'self', href: base + path }],
    };
  }

  function findVersion(id: string): KnownVersion {
    const version = versions.find(({ definition }) => definition.id === id);
    if (version) return version;
    throw new RangeError(
      `discovery: unknown version '${id}' (known: ${versions.map(({ definition }) => definition.id).join(', ')})`,
    );
  }

  function listOf(req: IncomingMessage) {
    const base = baseOf(req);
    return { versions: versions.map((version) => createEntry(version, base)) };
  }

  function documentOf(req: IncomingMessage, id: string) {
    const version = findVersion(id);
    const base = baseOf(req);
    // If a router that is mounted at the version's path serves the document, Express includes that path in the base URL.
    const mount = version.path.slice(0, -1);
    const versionEntry = createEntry(version, base.endsWith(mount) ? base.slice(0, base.length - mount.length) : base);
    const { describedBy, mediaTypes = [] } = version.definition;
    const describedByLinks = describedBy ? [{ rel: 'describedby', type: 'text/html', href: describedBy }] : [];
    return {
      version: { ...versionEntry, links: [...versionEntry.links, ...describedByLinks], 'media-types': mediaTypes },
    };
  }

  function choicesOf(req: IncomingMessage, path: string) {
    const base = baseOf(req);
    return {
      choices: versions.map(({ definition, path: mount }) => ({
        id: definition.id,
        status: definition.status,
        links: [{ rel: 'self', href: base + mount + path.replace(/^\/+/, '') }],
        'media-types': definition.mediaTypes ?? [],
      })),
    };
  }

  return {
    listOf,
    documentOf,
    choicesOf,
    list: (req, res) => sendJson(res, 200, listOf(req)),
    document(id) {
      findVersion(id);
      return (req, res) => sendJson(res, 200, documentOf(req, id));
    },
    choices: (req, res) => sendJson(res, 300, choicesOf(req, pathOf(req))),
  };
}
