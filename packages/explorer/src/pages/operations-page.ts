import { facts, type Html, html, note, prose } from '@apistrata/ui';
import type { NavigationEntry, NavigationSection, NavigationTag } from '../model/navigation.js';
import { layout } from './layout.js';
import { renderChangeMark, renderSignature, spansChip } from './pieces.js';
import { linkTo, type Site } from './site.js';

function operationRow(site: Site, { element, change }: NavigationEntry): Html {
  const { method, path, action, summary } = element.definitionAt(site.version);
  const isRemoved = change?.change === 'removed';
  return html`<li${isRemoved && html` class="gone"`}><a href="${linkTo(site, `/operations/${element.name}`)}">${summary}</a> ${spansChip(site, element.spans)} ${renderChangeMark(change?.change)}${renderSignature(method, path, action)}</li>`;
}

function tagSection(site: Site, { tag, title, entries }: NavigationTag): Html {
  const tagText = site.api.options.description?.tags?.[tag];
  return html`<section id="${tag}"><h3>${title}</h3>${tagText !== undefined && html`<p class="soft">${prose(tagText)}</p>`}<ul class="operations">${entries.map((entry) => operationRow(site, entry))}</ul></section>`;
}

function renderSection(site: Site, { title, collapsed, tags }: NavigationSection): Html {
  const content = tags.map((tag) => tagSection(site, tag));
  const count = tags.reduce((sum, { entries }) => sum + entries.length, 0);
  return collapsed
    ? html`<details class="section"><summary><h2>${title}</h2> <span class="soft">${count} operations</span></summary>${content}</details>`
    : html`<div class="section"><h2>${title}</h2>${content}</div>`;
}

/** Renders the operations of a version by section and tag. Operations that changed in this version are marked. */
export function operationsPage(site: Site): Html {
  const { api, version } = site;
  const { description, tagAliases = {} } = { ...api.options, description: api.options.description?.description };
  const sections = api.navigation.at(version);
  const count = sections.flatMap(({ tags }) => tags.flatMap(({ entries }) => entries)).length;
  const introduction = api.options.texts?.introduction ?? description;
  const history = api.options.history?.[version.text];
  const content = html`<h1>${api.title} ${version.text}</h1>
${introduction !== undefined && html`<p class="lead">${prose(introduction)}</p>`}
${facts([
  ['Operations', count],
  ['Versions', `${api.versions.min.text} to ${api.versions.max.text}`],
  ['Base URL', html`<code>${api.server || '/'}</code>`],
])}
${history !== undefined && note(html`<p><strong>New in ${version.text}:</strong> ${prose(history)} <a href="${linkTo(site, `/versions/${version.text}`)}">All changes in ${version.text}</a></p>`)}
${sections.map((each) => renderSection(site, each))}
${Object.entries(tagAliases).map(
  ([alias, tag]) =>
    html`<p class="soft small">${api.navigation.title(alias)}: ${prose(api.options.description?.tags?.[alias])} Its operations are those of <a href="#${tag}">${api.navigation.title(tag)}</a>.</p>`,
)}`;
  return layout(site, { title: 'Operations', path: '/', content });
}
