import type { Version } from '@apistrata/microversion';
import type { OperationChange } from '@apistrata/microversion/router';
import { type Html, html } from '../html.js';
import { layout } from './layout.js';
import { operationChangeItem } from './pieces.js';
import type { Site } from './site.js';

/** Changes by what they are about, in the order of the operations. */
export function byTag(changes: readonly OperationChange[]): ReadonlyMap<string, readonly OperationChange[]> {
  const groups = new Map<string, OperationChange[]>();
  for (const change of changes) {
    const group = groups.get(change.tag);
    if (group) group.push(change);
    else groups.set(change.tag, [change]);
  }
  return groups;
}

/** Of a change only what may break a client. */
export function breakingOnly(changes: readonly OperationChange[]): readonly OperationChange[] {
  return changes
    .filter(({ breaking }) => breaking)
    .map((change) => ({ ...change, parts: change.parts.filter(({ breaking }) => breaking !== undefined) }));
}

/** The same changes without what may break a client. */
export function harmlessOnly(changes: readonly OperationChange[]): readonly OperationChange[] {
  return changes
    .map((change) => ({ ...change, parts: change.parts.filter(({ breaking }) => breaking === undefined) }))
    .filter(({ change, parts }) => change === 'added' || (change === 'changed' && parts.length > 0));
}

export function changeGroups(site: Site, changes: readonly OperationChange[], withVersion: boolean): Html[] {
  return [...byTag(changes)].map(
    ([tag, group]) =>
      html`<section><h3>${tag}</h3><ul class="changes">${group.map((change) => operationChangeItem(site, change, withVersion))}</ul></section>`,
  );
}

function picker(site: Site, name: string, label: string, chosen: Version): Html {
  return html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}">${site.api.versions.all.map(
    (version) => html`<option${version === chosen && html` selected`}>${version.text}</option>`,
  )}</select></div>`;
}

/** What a client meets that goes from one version to another: first what may break it. */
export function changesPage(site: Site, from: Version, to: Version): Html {
  const changes = site.api.changes(from, to);
  const [breaking, rest] = [breakingOnly(changes), harmlessOnly(changes)];
  const address = (format: string) =>
    `${site.base}/changes?${new URLSearchParams({ from: from.text, to: to.text, format })}`;
  const content = html`<h1>From ${from.text} to ${to.text}</h1>
<form class="compare" method="get" action="${site.base}/changes">
<input type="hidden" name="version" value="${site.version.text}">
${picker(site, 'from', 'My client speaks', from)}${picker(site, 'to', 'It would meet', to)}
<button type="submit">Compare</button></form>
<p>${changes.length} operations differ, ${breaking.length} of them in a way that may break a client. The same as <a href="${address('markdown')}">Markdown</a> and <a href="${address('json')}">JSON</a>.</p>
<section class="may-break"><h2>What may break a client of ${from.text}</h2>${breaking.length === 0 ? html`<p>Nothing.</p>` : changeGroups(site, breaking, true)}</section>
<section><h2>What else changed</h2>${rest.length === 0 ? html`<p>Nothing.</p>` : changeGroups(site, rest, true)}</section>`;
  return layout(site, {
    title: `From ${from.text} to ${to.text}`,
    path: '/changes',
    keep: { from: from.text, to: to.text },
    content,
  });
}
