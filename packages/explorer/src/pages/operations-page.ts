import type { OperationChange } from '@apistrata/microversion/router';
import { type Html, html, prose } from '../html.js';
import type { Lifeline } from '../model/lifeline.js';
import { layout } from './layout.js';
import { changeMark, signature, spansBadge } from './pieces.js';
import { linkTo, type Site } from './site.js';

function row(site: Site, line: Lifeline, change: OperationChange | undefined): Html {
  const { method, path, action, summary } = line.shownAt(site.version);
  const gone = change?.change === 'removed';
  return html`<li${gone && html` class="gone"`}><a href="${linkTo(site, `/operations/${line.name}`)}">${signature(method, path, action)}</a> <span class="summary">${summary}</span> ${spansBadge(site, line.spans)} ${changeMark(change?.change)}</li>`;
}

/** Renders the operations of a version by tag. Operations that the version changed are marked. */
export function operationsPage(site: Site): Html {
  const { api, version } = site;
  const groups = [...api.byTagAt(version)];
  const note = api.options.history?.[version.text];
  const about = api.options.description?.description;
  const content = html`<h1>${api.title} at ${version.text}</h1>
${about !== undefined && html`<p class="about">${about}</p>`}
${note !== undefined && html`<section class="note"><h2>New in ${version.text}</h2><p>${prose(note)}</p><p><a href="${linkTo(site, `/versions/${version.text}`)}">All changes of ${version.text}</a></p></section>`}
<nav class="tags" aria-label="Groups of operations"><ul>${groups.map(
    ([tag, lines]) => html`<li><a href="#${tag}">${tag}</a> <span class="count">${lines.length}</span></li>`,
  )}</ul></nav>
${groups.map(
  ([tag, lines]) =>
    html`<section id="${tag}"><h2>${tag}</h2>${
      api.options.description?.tags?.[tag] && html`<p>${prose(api.options.description.tags[tag])}</p>`
    }<ul class="operations">${lines.map(({ line, change }) => row(site, line, change))}</ul></section>`,
)}`;
  return layout(site, { title: 'Operations', path: '/', content });
}
