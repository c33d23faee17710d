import type { Version } from '@apistrata/microversion';
import type { OperationChange } from '@apistrata/microversion-router';
import { chip, type Html, html, note, prose } from '@apistrata/ui';
import { changeGroups } from './changes-page.js';
import { layout } from './layout.js';
import { formAction, linkTo, type Site } from './site.js';

function changeCounts(changes: readonly OperationChange[]): Html {
  const count = (kind: OperationChange['change']) => changes.filter(({ change }) => change === kind).length;
  const [added, changed, removed] = [count('added'), count('changed'), count('removed')];
  return html`<p class="chips">${added > 0 && chip(`${added} new`, 'good')} ${changed > 0 && chip(`${changed} changed`, 'warn')} ${removed > 0 && chip(`${removed} removed`, 'bad')} ${changes.some(({ breaking }) => breaking) && chip('breaking', 'bad')}</p>`;
}

/**
 * Renders all versions, newest first, with their descriptions and change counts.
 *
 * @param hasChangeCounts whether the changes in all versions are known. If not, a script requests the change counts later
 */
export function versionsPage(site: Site, hasChangeCounts: boolean): Html {
  const { api } = site;
  const rows = [...api.versions.all].reverse().map((version) => {
    const previousVersion = api.versions.before(version);
    const versionText = api.options.history?.[version.text];
    const defaultText = previousVersion
      ? 'No description. The page of this version lists its changes.'
      : 'The first version.';
    return html`<li><h2><a href="${linkTo({ ...site, version }, `/versions/${version.text}`)}">${version.text}</a></h2><p${versionText === undefined && html` class="soft"`}>${prose(versionText ?? defaultText)}</p>${previousVersion && (hasChangeCounts ? changeCounts(api.changesAt(version)) : html`<p class="chips"></p>`)}</li>`;
  });
  const countsAddress = formAction(site, '/versions');
  const countsAttribute = !hasChangeCounts && html` data-counts="${countsAddress}?counts"`;
  const content = html`<h1>Versions</h1><p class="lead">${api.versions.min.text} to ${api.versions.max.text}, newest first. <a href="${linkTo(site, '/changes')}">Compare two versions</a> or subscribe to the <a href="${site.links.feed}">Atom feed</a>.${!hasChangeCounts && html`<noscript> <a href="${countsAddress}?counts">Show the number of changes</a>.</noscript>`}</p><ol class="history" reversed${countsAttribute}>${rows}</ol>`;
  return layout(site, { title: 'Versions', path: '/versions', content });
}

/** Renders a version: its description and the changes to all operations. */
export function versionPage(site: Site, step: Version): Html {
  const { api } = site;
  const previousVersion = api.versions.before(step);
  const changes = previousVersion ? api.changesAt(step) : [];
  const versionText = api.options.history?.[step.text];
  const nextVersion = api.versions.all[api.versions.indexOf(step) + 1];
  const neighbor = (version: Version | undefined, rel: 'prev' | 'next') =>
    version &&
    html`<a class="button" rel="${rel}" href="${linkTo({ ...site, version }, `/versions/${version.text}`)}">${rel === 'prev' ? `← ${version.text}` : `${version.text} →`}</a>`;
  const content = html`<h1>Version ${step.text}</h1>
<p class="neighbors">${neighbor(previousVersion, 'prev')} ${neighbor(nextVersion, 'next')}</p>
${versionText !== undefined && note(html`<p>${prose(versionText)}</p>`)}
${previousVersion ? html`${changes.length === 0 ? html`<p>No operation, field, parameter or status changed. This version changes only the behavior of the service.</p>` : html`<h2>Changes since ${previousVersion.text}</h2>${changeCounts(changes)}`}${changeGroups({ ...site, version: step }, changes, false)}` : html`<p>The first version.</p>`}`;
  return layout({ ...site, version: step }, { title: `Version ${step.text}`, path: '/versions', content });
}
