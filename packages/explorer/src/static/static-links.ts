import type { Version } from '@apistrata/microversion';
import type { Api } from '../model/api.js';
import type { ElementHistory } from '../model/element-history.js';
import type { Links } from '../pages/site.js';

/** An operation's page in a static site. Each interval in which the operation does not change has one page. */
export interface OperationFile {
  readonly file: string;
  /** The version that the page shows. */
  readonly version: Version;
  readonly since: Version;
}

const filesByElement = new WeakMap<ElementHistory, readonly OperationFile[]>();

/** Returns an operation's pages, oldest first. The newest page has a URL without a version. */
export function operationFiles(api: Api, element: ElementHistory): readonly OperationFile[] {
  const cached = filesByElement.get(element);
  if (cached) return cached;
  const existingVersions = api.versions.all.filter((version) => element.existsAt(version));
  const intervalStarts = existingVersions.filter((version, index) => index === 0 || element.mayChangeAt(version));
  const files = intervalStarts.map((since, index): OperationFile => {
    const isNewest = index === intervalStarts.length - 1;
    const name = `operations/${element.name}`;
    return {
      file: isNewest ? `${name}.html` : `${name}/${since.text}.html`,
      version: isNewest ? (existingVersions.at(-1) ?? since) : since,
      since,
    };
  });
  filesByElement.set(element, files);
  return files;
}

/** Returns an operation's page at a version; if the operation does not exist at that version, the nearest page. */
function operationFile(api: Api, element: ElementHistory, version: Version): string {
  const files = operationFiles(api, element);
  return (files.findLast(({ since }) => since.compare(version) <= 0) ?? files[0])?.file ?? 'index.html';
}

/** Returns the path of the file that lists a version's operations. */
export function operationsFile({ versions }: Api, version: Version): string {
  return version === versions.max ? 'index.html' : `at/${version.text}.html`;
}

function fileOf(api: Api, path: string, version: Version): string {
  if (path === '/') return operationsFile(api, version);
  const element = path.startsWith('/operations/') ? api.histories.get(path.slice('/operations/'.length)) : undefined;
  return element ? operationFile(api, element, version) : `${path.slice(1)}.html`;
}

/**
 * Returns page URLs as file paths relative to the file that contains the links.
 *
 * @param file the file that contains the links, such as `versions/2.26.html`
 * @param documents the versions that have an OpenAPI document in the site
 */
export function createStaticLinks(api: Api, file: string, documents: ReadonlySet<Version>): Links {
  const root = '../'.repeat(file.split('/').length - 1) || './';
  return {
    page(path, version, query) {
      const parameters = new URLSearchParams(query);
      return `${root}${fileOf(api, path, version)}${parameters.size > 0 ? `?${parameters}` : ''}`;
    },
    openapi: (version) => (documents.has(version) ? `${root}openapi/${version.text}.json` : undefined),
    assets: `${root}assets`,
    feed: `${root}versions.atom`,
    isStatic: true,
  };
}
