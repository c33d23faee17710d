import type { Version } from '@apistrata/microversion';
import type { OperationChange } from '@apistrata/microversion/router';
import { type Html, html } from '../html.js';
import { layout } from './layout.js';
import { operationChangeItem } from './pieces.js';
import type { Site } from './site.js';

/** Groups changes by tag, in the order of the operations. */
export function byTag(changes: readonly OperationChange[]): ReadonlyMap<string, readonly OperationChange[]> {
  const groups = new Map<string, OperationChange[]>();
  for (const change of changes) {
    const group = groups.get(change.tag);
    if (group) group.push(change);
    else groups.set(change.tag, [change]);
  }
  return groups;
}

/** Keeps only the breaking parts of changes. */
export function breakingOnly(changes: readonly OperationChange[]): readonly OperationChange[] {
  return changes
    .filter(({ breaking }) => breaking)
    .map((change) => ({ ...change, parts: change.parts.filter(({ breaking }) => breaking !== undefined) }));
}

/** Keeps only the compatible parts of changes. */
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

/** Renders the changes between two versions, breaking changes first. */
export function changesPage(site: Site, from: Version, to: Version): Html {
  const changes = site.api.changes(from, to);
  const [breaking, rest] = [breakingOnly(changes), harmlessOnly(changes)];
  const address = (format: string) =>
    `${site.base}/changes?${new URLSearchParams({ from: from.text, to: to.text, format })}`;
  const content = html`<h1>From ${from.text} to ${to.text}</h1>
<form class="compare" method="get" action="${site.base}/changes">
<input type="hidden" name="version" value="${site.version.text}">
${picker(site, 'from', 'Version of the client', from)}${picker(site, 'to', 'Version of the API', to)}
<button type="submit">Compare</button></form>
<p>${changes.length} operations differ; ${breaking.length} have breaking changes. Also available as <a href="${address('markdown')}">Markdown</a> and <a href="${address('json')}">JSON</a>.</p>
<section class="breaking-changes"><h2>Breaking changes for clients of ${from.text}</h2>${breaking.length === 0 ? html`<p>None.</p>` : changeGroups(site, breaking, true)}</section>
<section><h2>Other changes</h2>${rest.length === 0 ? html`<p>None.</p>` : changeGroups(site, rest, true)}</section>`;
  return layout(site, {
    title: `From ${from.text} to ${to.text}`,
    path: '/changes',
    keep: { from: from.text, to: to.text },
    content,
  });
}
