// Finds dead links of the built site: addresses without a page or file, and anchors that their page does not have.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** The files that a server may return for an address, in their order. */
export const filesFor = (path) => (path.endsWith('/') ? [`${path}index.html`] : [path, `${path}.html`]);

const unescaped = (text) => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");

const attributes = (html, pattern) => [...html.matchAll(pattern)].map(([, value]) => unescaped(value));

/** Returns the dead links of all pages in a folder, as `page -> link`. */
export function deadLinks(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.html'));
  const pages = new Map(files.map((file) => [posix.join('/', file), readFileSync(join(folder, file), 'utf8')]));
  const anchors = new Map([...pages].map(([file, html]) => [file, new Set(attributes(html, / id="([^"]*)"/g))]));
  return [...pages].flatMap(([page, html]) =>
    attributes(html, / (?:href|src)="([^"]*)"/g)
      .filter((link) => {
        if (/^[a-z]+:/.test(link)) return false;
        const { pathname, hash } = new URL(link, `http://site${page}`);
        const file = filesFor(decodeURIComponent(pathname)).find((name) => existsSync(join(folder, name)));
        if (!file) return true;
        const anchor = decodeURIComponent(hash.slice(1));
        return anchor !== '' && anchors.has(file) && !anchors.get(file).has(anchor);
      })
      .map((link) => `${page} -> ${link}`),
  );
}
