import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Version } from '@apistrata/microversion';
import { ASSET_NAMES, assetFile, explorerAsset } from '../assets.js';
import { Api } from '../model/api.js';
import { checkOptions, type ExplorerOptions } from '../options.js';
import { changelogPage } from '../pages/changelog-page.js';
import { operationPage } from '../pages/operation-page.js';
import { operationsPage } from '../pages/operations-page.js';
import { searchPage } from '../pages/search-page.js';
import type { Site } from '../pages/site.js';
import { versionsFeed } from '../pages/versions-feed.js';
import { versionPage, versionsPage } from '../pages/versions-page.js';
import { logoName } from '../theme.js';
import { createSearchData } from './search-data.js';
import { createStaticLinks, operationFiles, operationsFile } from './static-links.js';

/** Options for `buildStaticSite()`. */
export interface StaticSiteOptions {
  /** The output folder. Existing files are overwritten if their names occur in the site, and never deleted. */
  readonly folder: string;
  /** Which OpenAPI documents the site contains. Default: `all`. */
  readonly openapi?: 'all' | 'newest' | 'none';
}

/** A file of a static site. */
interface StaticFile {
  readonly file: string;
  readonly content: string | Uint8Array;
}

/** Returns the source code of the search library that runs in the browser, as an ES module. */
function searchLibrary(): string {
  const libraryPath = createRequire(import.meta.url).resolve('minisearch');
  return readFileSync(join(dirname(libraryPath), '../es/index.js'), 'utf8').replace(
    /\n\/\/# sourceMappingURL=.*\s*$/,
    '\n',
  );
}

function* assetFiles(options: ExplorerOptions): Generator<StaticFile> {
  const optionalAssetNames = [
    ...(options.colors ? ['theme.css'] : []),
    ...(options.logo ? [logoName(options.logo)] : []),
  ];
  for (const name of [...ASSET_NAMES, ...optionalAssetNames]) {
    const asset = explorerAsset(name, options);
    if (asset) yield { file: `assets/${name}`, content: asset.text };
  }
  yield { file: 'assets/static.js', content: assetFile('static.js') };
  yield { file: 'assets/minisearch.js', content: searchLibrary() };
}

function* staticFiles(options: ExplorerOptions, documents: StaticSiteOptions['openapi']): Generator<StaticFile> {
  const api = new Api(options);
  const { all, max } = api.versions;
  const versionsByChoice: Readonly<Record<string, readonly Version[]>> = { all, newest: [max], none: [] };
  const documentVersions = new Set(versionsByChoice[documents ?? 'all']);
  const renderPage = (
    file: string,
    version: Version,
    render: (site: Site) => { readonly text: string },
  ): StaticFile => ({
    file,
    content: render({ api, version, links: createStaticLinks(api, file, documentVersions) }).text,
  });
  for (const version of all) {
    yield renderPage(operationsFile(api, version), version, operationsPage);
    yield renderPage(`versions/${version.text}.html`, version, (site) => versionPage(site, version));
  }
  for (const element of api.histories.values())
    for (const { file, version } of operationFiles(api, element))
      yield renderPage(file, version, (site) => operationPage(site, element));
  yield renderPage('versions.html', max, (site) => versionsPage(site, true));
  yield renderPage('changes.html', max, changelogPage);
  yield renderPage('search.html', max, (site) => searchPage(site, ''));
  const feed = 'versions.atom';
  yield {
    file: feed,
    content: versionsFeed({ api, version: max, links: createStaticLinks(api, feed, documentVersions) }, ''),
  };
  yield { file: 'search.json', content: JSON.stringify(createSearchData(api)) };
  for (const version of documentVersions)
    yield { file: `openapi/${version.text}.json`, content: api.documentText(version) };
  yield* assetFiles(options);
}

/**
 * Writes the pages as a static site with relative links, which any file server can serve below any path. Search and
 * comparison run in the browser. The site contains request forms if `server` is a URL.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs';
 * import { documentedApi } from '@apistrata/explorer';
 * import { buildStaticSite } from '@apistrata/explorer/static';
 *
 * const read = (file: string) => ({ document: JSON.parse(readFileSync(file, 'utf8')), label: file });
 * const build = () => buildStaticSite(documentedApi([read('1.0.json'), read('1.1.json')]), { folder: 'site' });
 * ```
 *
 * @returns the number of files and their total size in bytes
 * @throws TypeError or RangeError if an option is invalid, and errors of the file system
 */
export async function buildStaticSite(
  options: ExplorerOptions,
  { folder, openapi }: StaticSiteOptions,
): Promise<{ readonly files: number; readonly bytes: number }> {
  checkOptions(options);
  let [files, bytes] = [0, 0];
  const folders = new Set<string>();
  for (const { file, content } of staticFiles(options, openapi)) {
    const target = join(folder, file);
    const parent = dirname(target);
    if (!folders.has(parent)) await mkdir(parent, { recursive: true });
    folders.add(parent);
    await writeFile(target, content);
    files += 1;
    bytes += Buffer.byteLength(content);
  }
  return { files, bytes };
}
