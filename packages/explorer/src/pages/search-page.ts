import { type Html, html, prose } from '../html.js';
import { partLabel } from '../model/part-name.js';
import { descriptionOf } from '../model/rules-text.js';
import { search } from '../model/search.js';
import { layout } from './layout.js';
import { signature, spansBadge } from './pieces.js';
import { linkTo, type Site } from './site.js';

/** Maximum number of matching parts per operation. */
const MOST_PARTS = 6;

export function searchPage(site: Site, question: string): Html {
  const found = search(site.api, question, site.version);
  const items = found.map(({ line, parts }) => {
    const { method, path, action, summary } = line.shownAt(site.version);
    const address = linkTo(site, `/operations/${line.name}`);
    return html`<li><a href="${address}">${signature(method, path, action)}</a> <span class="summary">${summary}</span> ${spansBadge(site, line.spans)}
${
  parts.length > 0 &&
  html`<ul>${parts
    .slice(0, MOST_PARTS)
    .map(
      (part) =>
        html`<li><a href="${address}#${encodeURIComponent(part.name)}">${partLabel(part.name)}</a> ${spansBadge(site, part.spans)} ${prose(descriptionOf(part.last))}</li>`,
    )}${parts.length > MOST_PARTS && html`<li class="quiet">and ${parts.length - MOST_PARTS} more</li>`}</ul>`
}</li>`;
  });
  const content = html`<h1>Search</h1>
<p data-search-count>${question === '' ? 'Enter words from an operation, a field or a description.' : `${found.length} operations with “${question}”.`}</p>
<ul class="found">${items}</ul>`;
  return layout(site, { title: `Search: ${question}`, path: '/search', keep: { q: question }, content });
}
