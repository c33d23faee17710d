import type { Version } from '@apistrata/microversion';
import type { Api } from '../model/api.js';

/** A page is made for a version, below a mount: what every page needs to write links that keep both. */
export interface Site {
  readonly api: Api;
  /** Where the pages are mounted, without a slash at its end. */
  readonly base: string;
  readonly version: Version;
}

/** The address of a page, with the version that the reader looks at. */
export function linkTo({ base, version }: Site, path: string, query: Readonly<Record<string, string>> = {}): string {
  return `${base}${path}?${new URLSearchParams({ version: version.text, ...query })}`;
}
