import { type Html, html, note, prose } from '@apistrata/ui';
import { partLabel } from '../model/part-name.js';
import { descriptionOf } from '../model/rules-text.js';
import type { FoundOperation } from '../model/search.js';
import { layout } from './layout.js';
import { renderSignature, spansChip } from './pieces.js';
import { linkTo, type Site } from './site.js';

/** Maximum number of matching parts per operation. */
const MAX_MATCHING_PARTS = 4;
/** Maximum number of versions in the results. */
const MAX_VERSION_RESULTS = 8;

function operationItem(site: Site, { element, parts }: FoundOperation): Html {
  const { method, path, action, summary } = element.definitionAt(site.version);
  const url = linkTo(site, `/operations/${element.name}`);
  const matchingParts = parts
    .slice(0, MAX_MATCHING_PARTS)
    .map(
      (part) =>
        html`<li><a href="${url}#${encodeURIComponent(part.name)}">${partLabel(part.name)}</a> ${spansChip(site, part.spans)} <span class="soft">${prose(descriptionOf(part.last))}</span></li>`,
    );
  return html`<li><a href="${url}"><strong>${summary}</strong></a> ${spansChip(site, element.spans)} ${renderSignature(method, path, action)}${
    matchingParts.length > 0 &&
    html`<ul>${matchingParts}${parts.length > MAX_MATCHING_PARTS && html`<li class="soft">and ${parts.length - MAX_MATCHING_PARTS} more</li>`}</ul>`
  }</li>`;
}

/** Renders the operations, fields and versions that match a query. */
export function searchPage(site: Site, searchText: string): Html {
  if (site.links.isStatic)
    return layout(site, {
      title: 'Search',
      path: '/search',
      scripts: ['static.js'],
      content: html`<h1>Search</h1><p data-search-count role="status"></p><noscript><p>Search requires JavaScript.</p></noscript><ul class="found" data-results></ul>`,
    });
  const { operations, versions, comparedVersions } = site.api.searchIndex.search(searchText);
  const resultCount = `${operations.length} ${operations.length === 1 ? 'operation' : 'operations'} and ${versions.length} ${versions.length === 1 ? 'version' : 'versions'} for “${searchText}”.`;
  const content = html`<h1>Search</h1>
<p data-search-count role="status">${searchText === '' ? 'Enter words from an operation, a field, a description or a version.' : resultCount}</p>
${comparedVersions && note(html`<a href="${linkTo(site, '/changes', { from: comparedVersions[0].text, to: comparedVersions[1].text })}">Changes from ${comparedVersions[0].text} to ${comparedVersions[1].text}</a>`)}
${
  versions.length > 0 &&
  html`<div class="section"><h2>Versions</h2><ol class="history">${versions
    .slice(0, MAX_VERSION_RESULTS)
    .map(
      (version) =>
        html`<li><h3><a href="${linkTo({ ...site, version }, `/versions/${version.text}`)}">${version.text}</a></h3><p>${prose(site.api.options.history?.[version.text])}</p></li>`,
    )}</ol></div>`
}
${operations.length > 0 && html`<div class="section"><h2>Operations</h2><ul class="found">${operations.map((found) => operationItem(site, found))}</ul></div>`}`;
  return layout(site, {
    title: `Search: ${searchText}`,
    path: '/search',
    parameters: { q: searchText },
    searchText,
    content,
  });
}
