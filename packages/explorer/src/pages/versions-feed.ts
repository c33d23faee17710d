import { createHash } from 'node:crypto';
import type { Version } from '@apistrata/microversion';
import { html } from '@apistrata/ui';
import type { Site } from './site.js';

/**
 * The date of every entry, which is arbitrary because API versions have no dates. Feed readers recognize new entries by
 * their IDs.
 */
const ENTRY_DATE = '1970-01-01T00:00:00Z';

/** Returns a version 8 UUID that is derived from a string, so that it does not depend on the URL of the pages. */
function feedId(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex');
  const groups = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`, `a${digits.slice(17, 20)}`];
  return `urn:uuid:${groups.join('-')}-${digits.slice(20, 32)}`;
}

/**
 * Renders the versions of an API with their descriptions as an Atom feed, newest first.
 *
 * @param origin the origin of the server, such as `http://127.0.0.1:3000`; empty for relative links
 */
export function versionsFeed(site: Site, origin: string): string {
  const { api, links } = site;
  const addressOf = (version: Version) => origin + links.page(`/versions/${version.text}`, version, {});
  const entries = [...api.versions.all].reverse().map((version) => {
    const title = `${api.title} ${version.text}`;
    return html`<entry><id>${feedId(title)}</id><title>${title}</title><updated>${ENTRY_DATE}</updated><link href="${addressOf(version)}"/><summary>${api.options.history?.[version.text] ?? ''}</summary></entry>\n`;
  });
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><id>${feedId(api.title)}</id><title>Versions of ${api.title}</title><updated>${ENTRY_DATE}</updated><author><name>${api.title}</name></author><link rel="self" href="${origin}${links.feed}"/>
${entries}</feed>
`.text;
}
