import { type IncomingMessage, validateHeaderName } from 'node:http';

/** A part of a request, such as a header, that can contain the version. */
export interface VersionSource {
  /** The name of the source in messages, such as `API-Version`. */
  readonly name: string;
  /** The request header that the source reads, for `Vary`. Undefined if the source reads the URL. */
  readonly vary: string | undefined;
  /** Returns the requested version; undefined if this part of the request does not contain one. */
  readonly read: (req: IncomingMessage, isVersion: (text: string) => boolean) => string | undefined;
  /** Called with a request whose version was accepted, to remove the version from its URL. */
  readonly accepted?: (req: IncomingMessage) => void;
}

/** Reads the version from a header, such as `API-Version: 2026-11-22`. If the header is repeated, its last value applies. */
export function header(name: string): VersionSource {
  validateHeaderName(name);
  const key = name.toLowerCase();
  return {
    name,
    vary: name,
    read(req) {
      const value = req.headers[key];
      if (value === undefined) return undefined;
      const text = typeof value === 'string' ? value : value.join();
      return text.slice(text.lastIndexOf(',') + 1).trim();
    },
  };
}

/** Reads the version from the header `Accept-Version`. With the scheme `semver`, clients can send ranges such as `^1.4.0`. */
export function acceptVersion(): VersionSource {
  return header('Accept-Version');
}

/** Reads the version from a query parameter, such as `?api-version=2026-11-22`. If it is repeated, its last value applies. */
export function queryParameter(name: string): VersionSource {
  return {
    name: `?${name}`,
    vary: undefined,
    read(req) {
      const url = req.url ?? '/';
      const queryStart = url.indexOf('?');
      // Fast path: most requests do not have a query string.
      return queryStart < 0 ? undefined : new URLSearchParams(url.slice(queryStart + 1)).getAll(name).at(-1);
    },
  };
}

const FIRST_SEGMENT = /^\/([^/?]+)/;

/**
 * Reads the version from the first path segment, such as `2` in `/v2/invoices` with the prefix `v`. A segment that is
 * not a version is left to routing. A version segment is removed from `req.url`, as Express removes mount paths;
 * `req.originalUrl` keeps it.
 *
 * @param prefix the text before the version. Default: none
 */
export function pathPrefix(prefix = ''): VersionSource {
  return {
    name: `/${prefix}`,
    vary: undefined,
    read(req, isVersion) {
      const segment = FIRST_SEGMENT.exec(req.url ?? '')?.[1];
      if (!segment?.startsWith(prefix)) return undefined;
      const text = segment.slice(prefix.length);
      return isVersion(text) ? text : undefined;
    },
    accepted(req) {
      const rest = (req.url ?? '').replace(FIRST_SEGMENT, '');
      req.url = rest.startsWith('/') ? rest : `/${rest}`;
    },
  };
}

/** Splits a header value at separators that are not in quoted strings. */
function splitUnquoted(text: string, separator: ',' | ';'): string[] {
  return text.match(separator === ',' ? /(?:[^,"]|"(?:[^"\\]|\\.)*")+/g : /(?:[^;"]|"(?:[^"\\]|\\.)*")+/g) ?? [];
}

function unquote(value: string): string {
  return /^".*"$/.test(value) ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
}

/**
 * Reads the version from a media type parameter in `Accept`, such as `application/json; version=2026-11-22`. If several
 * media types have the parameter, the one with the highest quality applies.
 */
export function acceptParameter(name = 'version'): VersionSource {
  const parameterName = name.toLowerCase();
  return {
    name: `Accept parameter ${name}`,
    vary: 'Accept',
    read(req) {
      const { accept } = req.headers;
      // Fast path: almost all clients send `Accept`, but rarely with parameters.
      if (!accept?.includes(';')) return undefined;
      let bestMatch: { readonly version: string; readonly quality: number } | undefined;
      for (const range of splitUnquoted(accept, ',')) {
        const parameters = new Map(
          splitUnquoted(range, ';')
            .slice(1)
            .map((parameter) => {
              const [key = '', ...value] = parameter.split('=');
              return [key.trim().toLowerCase(), unquote(value.join('=').trim())] as const;
            }),
        );
        const version = parameters.get(parameterName);
        const quality = Number(parameters.get('q') ?? 1);
        if (version !== undefined && quality > (bestMatch?.quality ?? 0)) bestMatch = { version, quality };
      }
      return bestMatch?.version;
    },
  };
}
