// Converts the links in the repository's Markdown files for the site: a link to a file that is a page of the site
// becomes a link to that page, and a link to any other file becomes a link to GitHub. In the Markdown files themselves,
// links work on GitHub.
import { existsSync, statSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { included } from './includes.mjs';
import { addressOf, pages } from './pages.mjs';

export const ROOT = join(import.meta.dirname, '..');
export const REPOSITORY = 'https://github.com/apistrata/apistrata';

const addresses = new Map(pages.map((page) => [page.source, addressOf(page)]));

/** The prefix of absolute URLs of repository files, which READMEs need because npm shows them. */
const OWN_FILES = new RegExp(
  `^(?:${REPOSITORY}/(?:blob|tree|raw)|${REPOSITORY.replace('github.com', 'raw.githubusercontent.com')})/main/`,
);

/** Returns the file to which a link leads, relative to the root. For a folder, returns its README if that is a page. */
function targetOf(folder, path) {
  const file = relative(ROOT, join(ROOT, folder, decodeURIComponent(path)))
    .split(sep)
    .join('/');
  const own = posix.join(file, 'README.md');
  return addresses.has(own) ? own : file;
}

/**
 * Returns the target of a link on the site.
 * @param onImage called with the path of each image, which must be part of the site
 * @throws Error if the file does not exist
 */
function linkOnSite(source, link, isImage, onImage) {
  const own = OWN_FILES.test(link) ? link.replace(OWN_FILES, '') : undefined;
  if (own === undefined && /^(?:[a-z]+:|#|\/)/.test(link)) return link;
  const [, path, hash = ''] = /^([^#]*)(#.*)?$/.exec(own ?? link);
  const file = targetOf(own === undefined ? dirname(source) : '.', path);
  const address = addresses.get(file);
  if (address) return address + hash;
  if (!existsSync(join(ROOT, file))) throw new Error(`${source} links to ${link}, which does not exist`);
  if (isImage) {
    onImage(file);
    return `/${file.replace(/^docs\//, '')}`;
  }
  return `${REPOSITORY}/${statSync(join(ROOT, file)).isDirectory() ? 'tree' : 'blob'}/main/${file}${hash}`;
}

/** Splits Markdown into fenced code (odd positions) and everything else (even positions). */
const splitFences = (markdown) => markdown.split(/^(```[\s\S]*?^```$)/m);

/**
 * Returns Markdown in the form of the site: with rewritten links, with included files, and without comments.
 * @param onImage called with the path of each image, which must be part of the site
 */
export function forSite(source, markdown, onImage) {
  const parts = splitFences(markdown).map((part, index) =>
    index % 2 === 1 ? part : textForSite(source, part, onImage),
  );
  return parts.join('');
}

function textForSite(source, text, onImage) {
  const linked = text.replace(/(!?)(\[(?:[^\][]|\[[^\]]*\])*\])\(([^)\s]+)\)/g, (_text, mark, label, link) => {
    return `${mark}${label}(${linkOnSite(source, link, mark === '!', onImage)})`;
  });
  return linked.replace(/<!--([\s\S]*?)-->/g, (_text, comment) => {
    const part = included(ROOT, comment);
    return part ? forSite(part.file, part.markdown, onImage) : '';
  });
}
