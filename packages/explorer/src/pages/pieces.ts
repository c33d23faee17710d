import type { OperationChange, PartChange } from '@apistrata/microversion/router';
import { type Html, html } from '../html.js';
import type { Span } from '../model/lifeline.js';
import { partLabel } from '../model/part-name.js';
import { rulesText } from '../model/rules-text.js';
import { linkTo, type Site } from './site.js';

/** Renders `METHOD /path action` with separate styles for its parts. */
export function signature(method: string, path: string, action: string | undefined): Html {
  return html`<span class="method method-${method.toLowerCase()}">${method}</span> <code>${path}</code>${
    action !== undefined && html` <code class="action">${action}</code>`
  }`;
}

/** Returns the windows as text (`since 2.26`, `2.32 to 2.36`, `until 2.43`), or undefined for all versions. */
export function spansText({ api }: Site, spans: readonly Span[]): string | undefined {
  const { min, max } = api.versions;
  const texts = spans.map(({ since, until }) => {
    if (until === max) return since === min ? undefined : `since ${since.text}`;
    return since === min ? `until ${until.text}` : `${since.text} to ${until.text}`;
  });
  return texts.includes(undefined) ? undefined : texts.join(', ');
}

export function spansBadge(site: Site, spans: readonly Span[]): Html | undefined {
  const text = spansText(site, spans);
  return text === undefined ? undefined : html`<span class="span">${text}</span>`;
}

/** Renders the mark of an element that the selected version changed. */
export function changeMark(change: 'added' | 'removed' | 'changed' | 'altered' | undefined): Html | undefined {
  if (change === undefined) return undefined;
  const word = { added: 'new', removed: 'removed', changed: 'changed', altered: 'changed' }[change];
  return html`<mark class="mark mark-${word}">${word}</mark>`;
}

function partChangeText({ name, change, before, after }: PartChange): Html {
  const label = partLabel(name);
  if (change === 'added')
    return html`${label} was added${after?.required && name.startsWith('body') && ' and is required'}`;
  if (change === 'removed') return html`${label} was removed`;
  const [was, is] = [before && rulesText(before), after && rulesText(after)];
  if (was !== is) return html`${label}: <del>${was}</del> <ins>${is}</ins>`;
  if (before?.required !== after?.required)
    return html`${label} is ${after?.required ? 'now required' : 'no longer required'}`;
  if (before?.closed !== after?.closed)
    return html`${label} ${after?.closed ? 'rejects unknown fields' : 'accepts unknown fields'}`;
  return html`${label} has different constraints`;
}

/** Renders a changed part as a list item, with the reason if the change is breaking. */
export function partChangeItem(site: Site, part: PartChange, withVersion: boolean): Html {
  return html`<li>${changeMark(part.change)} ${partChangeText(part)}${
    withVersion && html` <a class="at" href="${linkTo(site, `/versions/${part.version}`)}">${part.version}</a>`
  }${part.breaking !== undefined && html` <span class="breaking">breaking: ${part.breaking}</span>`}</li>`;
}

/** Renders the changes of an operation as a list item. */
export function operationChangeItem(site: Site, change: OperationChange, withVersion: boolean): Html {
  const [method = '', path = '', action] = change.operation.split(' ');
  const whole = change.change !== 'changed';
  return html`<li class="change"><div>${changeMark(change.change)} <a href="${linkTo(site, `/operations/${change.name}`)}">${signature(method, path, action)}</a> ${change.summary}${
    withVersion &&
    whole &&
    html` <a class="at" href="${linkTo(site, `/versions/${change.version}`)}">${change.version}</a>`
  }${change.change === 'removed' && html` <span class="breaking">breaking: returns 404</span>`}</div>${
    change.parts.length > 0 && html`<ul>${change.parts.map((part) => partChangeItem(site, part, withVersion))}</ul>`
  }</li>`;
}
