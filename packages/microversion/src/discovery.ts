import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuseUnknown } from './negotiation/refuse-unknown.js';
import { requestBase, type TrustProxy } from './request-base.js';
import { Version, type VersionLike } from './version.js';

/** A major version of an API, as clients discover it. */
export interface ApiVersion {
  /** `v2.1` */
  readonly id: string;
  /** Where it is mounted, below the base of the API. Default `/<id>/`; a slash at the end is added. */
  readonly path?: string;
  readonly status: 'CURRENT' | 'SUPPORTED' | 'DEPRECATED' | 'EXPERIMENTAL';
  /** Lowest microversion; left out where there are none. */
  readonly min?: VersionLike;
  /** Highest microversion; left out where there are none. */
  readonly max?: VersionLike;
  /** When it last changed, `2013-07-23T11:33:21Z`. */
  readonly updated: string;
  /** Formats of this version, shown in its own document and among choices. */
  readonly mediaTypes?: readonly { readonly base: string; readonly type: string }[];
  /** Where people read about this version, an HTML page. */
  readonly describedBy?: string;
}

/** The versions to tell of, and the address that their links begin with. */
export interface DiscoveryOptions {
  /** Oldest first. */
  readonly versions: readonly ApiVersion[];
  /** Whether forwarding headers are believed; see `requestBase`. */
  readonly trustProxy?: TrustProxy;
  /** The URL of the API without a slash at the end, instead of the one in the request. */
  readonly base?: string | ((req: IncomingMessage) => string);
}

/** A link of a version document. */
export interface VersionLink {
  readonly rel: string;
  readonly href: string;
  readonly type?: string;
}

/** An entry of the list of versions. Versions without microversions show two empty strings. */
export interface VersionEntry {
  readonly id: string;
  readonly status: string;
  readonly version: string;
  readonly min_version: string;
  readonly updated: string;
  readonly links: readonly VersionLink[];
}

/** A version as its own document tells of it. */
export interface VersionDetail extends VersionEntry {
  readonly 'media-types': readonly { readonly base: string; readonly type: string }[];
}

/** A version as the answer to a request without one (300) offers it. */
export interface VersionChoice {
  readonly id: string;
  readonly status: string;
  readonly links: readonly VersionLink[];
  readonly 'media-types': readonly { readonly base: string; readonly type: string }[];
}

type DocumentHandler = (req: IncomingMessage, res: ServerResponse) => void;

/** Discovery documents, as data and as handlers. Handlers answer any method and path they are mounted on. */
export interface Discovery {
  /** `{ versions: [...] }`, for the root of the API. Not negotiated: mount it in front of `microversion()`. */
  readonly listOf: (req: IncomingMessage) => { readonly versions: readonly VersionEntry[] };
  /** `{ version: {...} }`, for the root of one version. Throws a RangeError for an id that is none. */
  readonly documentOf: (req: IncomingMessage, id: string) => { readonly version: VersionDetail };
  /** `{ choices: [...] }`, for a path (`/servers`, without the base) that names no version; status 300. */
  readonly choicesOf: (req: IncomingMessage, path: string) => { readonly choices: readonly VersionChoice[] };
  /** Answers {@link Discovery.listOf} with 200. */
  readonly list: DocumentHandler;
  /** Makes a handler that answers {@link Discovery.documentOf} with 200. */
  readonly document: (id: string) => DocumentHandler;
  /** Answers {@link Discovery.choicesOf} with 300, for the path of the request. */
  readonly choices: DocumentHandler;
}

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

/** A version with its path completed and its bounds as text. */
interface Known {
  readonly about: ApiVersion;
  /** Begins and ends with a slash. */
  readonly path: string;
  readonly min: string;
  readonly max: string;
}

function known(about: ApiVersion): Known {
  refuseUnknown('discovery version', about, Object.keys(VERSION_KEYS));
  const bare = (about.path ?? about.id).replace(/^\/+|\/+$/g, '');
  const text = (version: VersionLike | undefined) => (version === undefined ? '' : Version.of(version).text);
  return { about, path: bare === '' ? '/' : `/${bare}/`, min: text(about.min), max: text(about.max) };
}

function send(res: ServerResponse, status: number, document: object): void {
  const body = JSON.stringify(document);
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json');
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.end(body);
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

/** Makes the documents by which clients find the versions of an API and their microversions. Links are absolute. */
export function discovery(options: DiscoveryOptions): Discovery {
  refuseUnknown('discovery', options, ['versions', 'trustProxy', 'base']);
  const versions = options.versions.map(known);

  function baseOf(req: IncomingMessage): string {
    const { base } = options;
    if (base === undefined) return requestBase(req, options.trustProxy);
    return (typeof base === 'string' ? base : base(req)).replace(/\/+$/, '');
  }

  function entry({ about, path, min, max }: Known, base: string): VersionEntry {
    return {
      id: about.id,
      status: about.status,
      version: max,
      min_version: min,
      updated: about.updated,
      links: [{ rel: 'self', href: base + path }],
    };
  }

  function find(id: string): Known {
    const version = versions.find(({ about }) => about.id === id);
    if (version) return version;
    throw new RangeError(
      `discovery: no version '${id}', there are ${versions.map(({ about }) => about.id).join(', ')}`,
    );
  }

  function listOf(req: IncomingMessage) {
    const base = baseOf(req);
    return { versions: versions.map((version) => entry(version, base)) };
  }

  function documentOf(req: IncomingMessage, id: string) {
    const version = find(id);
    const base = baseOf(req);
    // Express counts the version's own path to the base where the document is served by a router mounted there.
    const mount = version.path.slice(0, -1);
    const shown = entry(version, base.endsWith(mount) ? base.slice(0, base.length - mount.length) : base);
    const { describedBy, mediaTypes = [] } = version.about;
    const described = describedBy ? [{ rel: 'describedby', type: 'text/html', href: describedBy }] : [];
    return { version: { ...shown, links: [...shown.links, ...described], 'media-types': mediaTypes } };
  }

  function choicesOf(req: IncomingMessage, path: string) {
    const base = baseOf(req);
    return {
      choices: versions.map(({ about, path: mount }) => ({
        id: about.id,
        status: about.status,
        links: [{ rel: 'self', href: base + mount + path.replace(/^\/+/, '') }],
        'media-types': about.mediaTypes ?? [],
      })),
    };
  }

  return {
    listOf,
    documentOf,
    choicesOf,
    list: (req, res) => send(res, 200, listOf(req)),
    document(id) {
      find(id);
      return (req, res) => send(res, 200, documentOf(req, id));
    },
    choices: (req, res) => send(res, 300, choicesOf(req, pathOf(req))),
  };
}
