import type { Version } from '@apistrata/microversion';
import type { OperationChange } from '@apistrata/microversion-router';
import { facts, type Html, html } from '@apistrata/ui';
import { CHANGE_KINDS, type ChangeFilter, filterChanges, filterParameters } from '../model/change-filter.js';
import { layout } from './layout.js';
import { operationChangeItem } from './pieces.js';
import { formAction, linkTo, type Site } from './site.js';

/** Groups changes by tag, in the order of the changes. */
export function groupByTag(changes: readonly OperationChange[]): ReadonlyMap<string, readonly OperationChange[]> {
  const groups = new Map<string, OperationChange[]>();
  for (const change of changes) {
    const group = groups.get(change.tag);
    if (group) group.push(change);
    else groups.set(change.tag, [change]);
  }
  return groups;
}

/** Returns the breaking changes, with only their breaking parts. */
export function breakingChanges(changes: readonly OperationChange[]): readonly OperationChange[] {
  return changes
    .filter(({ breaking }) => breaking)
    .map((change) => ({ ...change, parts: change.parts.filter(({ breaking }) => breaking !== undefined) }));
}

/** Returns the changes that are compatible or have compatible parts, with only those parts. */
export function compatibleChanges(changes: readonly OperationChange[]): readonly OperationChange[] {
  return changes
    .map((change) => ({ ...change, parts: change.parts.filter(({ breaking }) => breaking === undefined) }))
    .filter(({ change, parts }) => change === 'added' || (change === 'changed' && parts.length > 0));
}

/** Renders changes in one section per tag. */
export function changeGroups(site: Site, changes: readonly OperationChange[], withVersion: boolean): Html[] {
  return [...groupByTag(changes)].map(
    ([tag, group]) =>
      html`<section><h3>${site.api.navigation.title(tag)}</h3><ul class="changes">${group.map((change) => operationChangeItem(site, change, withVersion))}</ul></section>`,
  );
}

function versionSelect(site: Site, name: string, label: string, selectedVersion: Version): Html {
  return html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}">${site.api.versions.all.map(
    (version) => html`<option${version === selectedVersion && html` selected`}>${version.text}</option>`,
  )}</select></div>`;
}

/** Renders the form that selects two versions and a filter. */
export function comparisonForm(site: Site, from: Version, to: Version, filter: ChangeFilter): Html {
  const kindOptions = CHANGE_KINDS.map(
    (kind) => html`<option${kind === filter.kind && html` selected`}>${kind}</option>`,
  );
  return html`<form class="compare" method="get" action="${formAction(site, '/changes')}">
<input type="hidden" name="version" value="${site.version.text}">
${versionSelect(site, 'from', 'Version of the client', from)}${versionSelect(site, 'to', 'Version of the API', to)}
<div><label for="operation">Operation</label><input id="operation" name="operation" value="${filter.text}" placeholder="all" autocomplete="off"></div>
<div><label for="kind">Change</label><select id="kind" name="kind"><option value="">all</option>${kindOptions}</select></div>
<label class="check"><input type="checkbox" name="breaking" value="only"${filter.breakingOnly && html` checked`}> Breaking only</label>
<button type="submit" class="button-main">Compare</button></form>`;
}

/** Renders the changes between two versions that a filter selects, breaking changes first. */
export function changesPage(site: Site, from: Version, to: Version, filter: ChangeFilter): Html {
  const changes = filterChanges(site.api.changes(from, to), filter);
  const [breaking, rest] = [breakingChanges(changes), filter.breakingOnly ? [] : compatibleChanges(changes)];
  const selection = { from: from.text, to: to.text, ...filterParameters(filter) };
  const formatAddress = (format: string) =>
    site.links.page('/changes', site.api.versions.max, { ...selection, format });
  const content = html`<h1>From ${from.text} to ${to.text}</h1>
<p class="lead">What changes for a client of ${from.text} that requests ${to.text}.</p>
${comparisonForm(site, from, to, filter)}
${facts([
  ['Operations that differ', changes.length],
  ['With breaking changes', html`<span class="${breaking.length > 0 ? 'bad' : 'good'}">${breaking.length}</span>`],
  ['Added', changes.filter(({ change }) => change === 'added').length],
  ['Removed', changes.filter(({ change }) => change === 'removed').length],
])}
<p class="small"><a href="${linkTo(site, '/changes', selection)}">Permalink</a> · <a href="${formatAddress('markdown')}">Markdown</a> · <a href="${formatAddress('json')}">JSON</a> · <a href="${site.links.feed}">Atom feed of versions</a></p>
<div class="section breaking-changes"><h2>Breaking changes for clients of ${from.text}</h2>${breaking.length === 0 ? html`<p>None.</p>` : changeGroups(site, breaking, true)}</div>
${!filter.breakingOnly && html`<div class="section"><h2>Other changes</h2>${rest.length === 0 ? html`<p>None.</p>` : changeGroups(site, rest, true)}</div>`}`;
  return layout(site, { title: `From ${from.text} to ${to.text}`, path: '/changes', parameters: selection, content });
}
