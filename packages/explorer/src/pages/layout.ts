import type { Version } from '@apistrata/microversion';
import { page as document, type Html, header, html, methodLabel, prose, type TemplateValue } from '@apistrata/ui';
import { contentPolicy } from '../content-policy.js';
import type { NavigationEntry, NavigationSection, NavigationTag } from '../model/navigation.js';
import { logoName } from '../theme.js';
import { formAction, linkTo, type Site } from './site.js';

/** The content and settings of an explorer page. */
export interface Page {
  readonly title: string;
  /** Path of the page below the mount path. The version picker opens the same path. */
  readonly path: string;
  /** Query parameters that the version picker preserves. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Name of the operation that the page shows. */
  readonly operation?: string;
  /** Text in the search field. */
  readonly searchText?: string;
  /** Whether the page has a second column for code. */
  readonly wide?: boolean;
  /** Names of scripts that only this page loads. */
  readonly scripts?: readonly string[];
  readonly content: TemplateValue;
}

/**
 * Pages that cover all versions. In a static site, their version picker opens the list of operations at the selected
 * version.
 */
const UNVERSIONED_PAGES = ['/versions', '/changes', '/search'];

function versionPicker(site: Site, { path, parameters = {} }: Page): Html {
  const { api, links, version } = site;
  const targetPath = links.isStatic && UNVERSIONED_PAGES.includes(path) ? '/' : path;
  const hrefAttribute = (each: Version) =>
    links.isStatic &&
    html` data-href="${links.page(targetPath.replace(/^\/versions\/.*/, `/versions/${each.text}`), each, {})}"`;
  const options = api.versions.all.map(
    (each) => html`<option${each === version && html` selected`}${hrefAttribute(each)}>${each.text}</option>`,
  );
  return html`<form class="versions" method="get" action="${formAction(site, links.isStatic ? '/versions' : path)}" data-versions>
${Object.entries(parameters).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label for="version">Version</label>
<select id="version" name="version">${options}</select>
<button type="submit">Show</button>
</form>`;
}

const MAIN_LINKS = [
  ['/', 'Reference'],
  ['/versions', 'Versions'],
  ['/changes', 'Compare'],
] as const;

function navigationItem(site: Site, { element, change }: NavigationEntry, current: string | undefined): Html {
  const { method, summary } = element.definitionAt(site.version);
  const shortMethod = method === 'DELETE' ? 'DEL' : method;
  const currentAttribute = element.name === current && html` aria-current="page"`;
  return html`<li><a href="${linkTo(site, `/operations/${element.name}`)}"${currentAttribute}${change?.change === 'removed' && html` class="gone"`}>${methodLabel(method, shortMethod)}${summary}</a></li>`;
}

function renderTag(site: Site, { title, entries }: NavigationTag, current: string | undefined): Html {
  const isOpen = entries.some(({ element }) => element.name === current);
  return html`<details${isOpen && html` open`}><summary>${title}</summary><ul>${entries.map((each) => navigationItem(site, each, current))}</ul></details>`;
}

function renderSection(site: Site, { title, collapsed, tags }: NavigationSection, current: string | undefined): Html {
  const tagList = tags.map((tag) => renderTag(site, tag, current));
  if (!collapsed) return html`<h2>${title}</h2>${tagList}`;
  const isOpen = tags.some(({ entries }) => entries.some(({ element }) => element.name === current));
  return html`<details class="collapsed"${isOpen && html` open`}><summary><h2>${title}</h2></summary>${tagList}</details>`;
}

function searchForm(site: Site, { searchText = '' }: Page): Html {
  return html`<form class="search" role="search" method="get" action="${formAction(site, '/search')}">
${!site.links.isStatic && site.version !== site.api.versions.max && html`<input type="hidden" name="version" value="${site.version.text}">`}
<label class="unseen" for="q">Search operations, fields and versions</label>
<input id="q" name="q" type="search" placeholder="Search (press /)" autocomplete="off" spellcheck="false" value="${searchText}">
</form>`;
}

/** Renders a complete page around its content. */
export function layout(site: Site, page: Page): Html {
  const { api, links, version } = site;
  const { assets } = links;
  const mainLinks = MAIN_LINKS.map(([path, text]) => ({ href: linkTo(site, path), text, current: page.path === path }));
  const openapi = links.openapi(version);
  const documents = openapi === undefined ? [] : [{ href: openapi, text: 'OpenAPI' }];
  return document({
    title: `${page.title} · ${api.title} ${version.text}`,
    assets,
    // Static pages contain the content security policy, whereas a server sends the policy as a header.
    ...(links.isStatic && { policy: contentPolicy(api.options) }),
    data: { server: api.server, version: version.text, ...(links.isStatic && { static: '' }) },
    head: html`<link rel="stylesheet" href="${assets}/explorer.css">
${api.options.colors && html`<link rel="stylesheet" href="${assets}/theme.css">\n`}<link rel="alternate" type="application/atom+xml" href="${links.feed}" title="Versions of ${api.title}">
<script type="module" src="${assets}/explorer.js"></script>
${(page.scripts ?? []).map((name) => html`<script type="module" src="${assets}/${name}"></script>\n`)}`,
    header: header(
      {
        href: linkTo(site, '/'),
        text: api.title,
        ...(api.options.logo && { logo: `${assets}/${logoName(api.options.logo)}` }),
      },
      [...mainLinks, ...documents],
      searchForm(site, page),
      versionPicker(site, page),
    ),
    body: html`<div class="frame">
<nav class="side" aria-label="Operations"><input type="checkbox" id="menu" class="unseen"><label for="menu" class="button menu-button">Operations</label>
<div class="sidebar"><div data-slider></div>${api.navigation.at(version).map((section) => renderSection(site, section, page.operation))}</div></nav>
<main id="content" tabindex="-1"${page.wide && html` class="wide"`}>
${page.content}
${api.options.texts?.footer !== undefined && html`<footer class="soft small">${prose(api.options.texts.footer)}</footer>`}
</main>
</div>`,
  });
}
