import type { Version } from '@apistrata/microversion';
import type { Api } from '../model/api.js';

/** Page URLs, which are paths on a server or files of a static site. */
export interface Links {
  /** Returns the URL of a page at a version. */
  page(path: string, version: Version, query: Readonly<Record<string, string>>): string;
  /** Returns the URL of the OpenAPI document for a version; undefined if there is none. */
  openapi(version: Version): string | undefined;
  /** URL of the assets folder. */
  readonly assets: string;
  /** URL of the Atom feed. */
  readonly feed: string;
  /** Whether pages are static files, so that no server evaluates query strings. */
  readonly isStatic: boolean;
}

/** The context of every page: the API, the selected version, and the URLs of other pages. */
export interface Site {
  readonly api: Api;
  readonly version: Version;
  readonly links: Links;
}

/**
 * Returns the URLs of server-rendered pages. Without the parameter `version`, the server renders the highest
 * version.
 */
export function createServerLinks(api: Api, base: string): Links {
  return {
    page(path, version, query) {
      const parameters = new URLSearchParams({
        ...(version !== api.versions.max && { version: version.text }),
        ...query,
      });
      return parameters.size > 0 ? `${base}${path}?${parameters}` : `${base}${path}`;
    },
    openapi: (version) => `${base}/openapi.json?version=${version.text}`,
    assets: `${base}/assets`,
    feed: `${base}/versions.atom`,
    isStatic: false,
  };
}

/** Returns the URL of a page at the selected version. */
export function linkTo({ links, version }: Site, path: string, query: Readonly<Record<string, string>> = {}): string {
  return links.page(path, version, query);
}

/** Returns the URL of a page without the selected version, for forms that contain a version field. */
export function formAction({ api, links }: Site, path: string): string {
  return links.page(path, api.versions.max, {});
}
