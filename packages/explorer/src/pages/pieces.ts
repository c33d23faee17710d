import type { OperationChange, Part, PartChange } from '@apistrata/microversion-router';
import { chip, type Html, html, methodLabel, type Tone } from '@apistrata/ui';
import type { Api } from '../model/api.js';
import type { Span } from '../model/element-history.js';
import { partLabel } from '../model/part-name.js';
import { listedValuesOfPart, rulesText } from '../model/rules-text.js';
import { linkTo, type Site } from './site.js';

/** Renders an operation's method, path and action key. */
export function renderSignature(method: string, path: string, action: string | undefined): Html {
  return html`<span class="signature">${methodLabel(method)} <code>${path}</code>${action !== undefined && html` <code class="action">${action}</code>`}</span>`;
}

/**
 * Returns version windows as text (`since 2.26`, `2.32 to 2.36`, `until 2.43`); undefined if they cover all versions.
 */
export function spanText(api: Api, spans: readonly Span[]): string | undefined {
  const { min, max } = api.versions;
  const texts = spans.map(({ since, until }) => {
    if (until === max) return since === min ? undefined : `since ${since.text}`;
    return since === min ? `until ${until.text}` : `${since.text} to ${until.text}`;
  });
  return texts.includes(undefined) ? undefined : texts.join(', ');
}

/** Renders an element's version windows as a label. Returns undefined if the element exists in all versions. */
export function spansChip(site: Site, spans: readonly Span[]): Html | undefined {
  const text = spanText(site.api, spans);
  const hasEnded = spans.at(-1)?.until !== site.api.versions.max;
  return text === undefined ? undefined : chip(text, hasEnded ? 'warn' : 'info');
}

/** The word and the color for each kind of change. */
const CHANGE_LABELS: Readonly<
  Record<'added' | 'removed' | 'changed' | 'altered', readonly [word: string, tone: Tone]>
> = {
  added: ['new', 'good'],
  removed: ['removed', 'bad'],
  changed: ['changed', 'warn'],
  altered: ['changed', 'warn'],
};

/** Renders a mark for an element that changed in the selected version. */
export function renderChangeMark(change: keyof typeof CHANGE_LABELS | undefined): Html | undefined {
  if (change === undefined) return undefined;
  const [word, tone] = CHANGE_LABELS[change];
  return html`<mark>${chip(word, tone)}</mark>`;
}

/**
 * The maximum total number of old and new values for which all values are shown. Otherwise, only the differing values
 * are shown.
 */
const MAX_FULLY_SHOWN_VALUES = 8;

/** Returns the values that only the first list contains, as text. */
function valuesOnlyIn(values: readonly unknown[], others: readonly unknown[]): string {
  return values
    .filter((value) => !others.includes(value))
    .map((value) => JSON.stringify(value))
    .join(', ');
}

/**
 * Renders the changed constraints of a field or parameter. If the lists of values are long, only differing values are
 * rendered.
 */
function constraintDifference(before: Part, after: Part): Html {
  const [oldValues, newValues] = [listedValuesOfPart(before), listedValuesOfPart(after)];
  const [removed, added] = [valuesOnlyIn(oldValues, newValues), valuesOnlyIn(newValues, oldValues)];
  if (oldValues.length + newValues.length > MAX_FULLY_SHOWN_VALUES && oldValues.length > 0 && newValues.length > 0)
    return html`<span class="diff">${removed && html`<del>${removed}</del>`}${added && html`<ins>${added}</ins>`}</span>`;
  return html`<span class="diff"><del>${rulesText(before)}</del> <ins>${rulesText(after)}</ins></span>`;
}

function partChangeText({ name, change, before, after }: PartChange): Html {
  const label = html`<code>${partLabel(name)}</code>`;
  if (change === 'added')
    return html`${label} was added${after?.required && name.startsWith('body') && ' and is required'}`;
  if (change === 'removed') return html`${label} was removed`;
  if (before && after && rulesText(before) !== rulesText(after))
    return html`${label} ${constraintDifference(before, after)}`;
  if (before?.required !== after?.required)
    return html`${label} is ${after?.required ? 'now required' : 'no longer required'}`;
  if (before?.closed !== after?.closed)
    return html`${label} ${after?.closed ? 'rejects unknown fields' : 'accepts unknown fields'}`;
  return html`${label} has different constraints`;
}

/** Renders a changed part as a list item, with the reason if the change is breaking. */
export function partChangeItem(site: Site, part: PartChange, withVersion: boolean): Html {
  return html`<li class="part">${renderChangeMark(part.change)} <div>${partChangeText(part)}${
    withVersion && html` <a class="at" href="${linkTo(site, `/versions/${part.version}`)}">${part.version}</a>`
  }${part.breaking !== undefined && html` <span class="breaking">breaking: ${part.breaking}</span>`}</div></li>`;
}

/** Renders the changes to an operation, collapsed if there are many. */
export function operationChangeItem(site: Site, change: OperationChange, withVersion: boolean): Html {
  const [method = '', path = '', action] = change.operation.split(' ');
  const isAddedOrRemoved = change.change !== 'changed';
  const parts = change.parts.map((part) => partChangeItem(site, part, withVersion));
  const id = site.links.isStatic ? `${change.version}-${change.name}` : change.name;
  return html`<li class="change" id="${id}" data-operation="${change.name}" data-kind="${change.change}"${change.breaking && html` data-breaking`}><h4><a href="${linkTo(site, `/operations/${change.name}`)}">${change.summary}</a> ${renderChangeMark(change.change)}${
    withVersion &&
    isAddedOrRemoved &&
    html` <a class="at" href="${linkTo(site, `/versions/${change.version}`)}">${change.version}</a>`
  }${change.change === 'removed' && html` <span class="breaking">breaking: returns 404</span>`}</h4>${renderSignature(method, path, action)}${
    parts.length > 0 &&
    html`<details${parts.length <= 12 && html` open`}><summary>${parts.length} ${parts.length === 1 ? 'change' : 'changes'}</summary><ul>${parts}</ul></details>`
  }</li>`;
}
