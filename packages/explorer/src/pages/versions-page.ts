import type { Version } from '@apistrata/microversion';
import { type Html, html, prose } from '../html.js';
import { changeGroups } from './changes-page.js';
import { layout } from './layout.js';
import { linkTo, type Site } from './site.js';

/** Renders all versions, newest first, with the description of each. */
export function versionsPage(site: Site): Html {
  const { api } = site;
  const rows = [...api.versions.all].reverse().map((version) => {
    const note = api.options.history?.[version.text];
    return html`<li><h2><a href="${linkTo({ ...site, version }, `/versions/${version.text}`)}">${version.text}</a></h2>${note === undefined ? html`<p class="quiet">${version === api.versions.min ? 'The first version.' : 'No description. The page of the version lists its changes.'}</p>` : html`<p>${prose(note)}</p>`}</li>`;
  });
  const content = html`<h1>Versions</h1><p>${api.versions.min.text} to ${api.versions.max.text}, newest first.</p><ol class="history" reversed>${rows}</ol>`;
  return layout(site, { title: 'Versions', path: '/versions', content });
}

/** Renders a version: its description and the changes of all operations. */
export function versionPage(site: Site, step: Version): Html {
  const { api } = site;
  const before = api.versions.before(step);
  const changes = before ? api.changes(before, step) : [];
  const note = api.options.history?.[step.text];
  const after = api.versions.all[api.versions.indexOf(step) + 1];
  const neighbour = (version: Version | undefined, word: string) =>
    version &&
    html`<a rel="${word}" href="${linkTo({ ...site, version }, `/versions/${version.text}`)}">${version.text}</a>`;
  const content = html`<h1>Version ${step.text}</h1>
<p class="neighbours">${neighbour(before, 'prev')} ${neighbour(after, 'next')}</p>
${note !== undefined && html`<p class="note">${prose(note)}</p>`}
${before ? html`<p>${changes.length === 0 ? 'No operation, field, parameter or status changed. The version changes the behavior of the service.' : `Changes since ${before.text}:`}</p>${changeGroups({ ...site, version: step }, changes, false)}` : html`<p>The first version.</p>`}`;
  return layout({ ...site, version: step }, { title: `Version ${step.text}`, path: '/versions', content });
}
