import type { Part } from '@apistrata/microversion-router';
import { chip, type Html, html, prose } from '@apistrata/ui';
import type { ElementHistory } from '../model/element-history.js';
import { collectAbsentFields, type FieldNode, fieldTree, keepExistingFields } from '../model/field-tree.js';
import { isRequestPart, lastSegment } from '../model/part-name.js';
import { constraintsOf, descriptionOf, listedValuesOfPart, typeOf } from '../model/rules-text.js';
import { renderChangeMark, spansChip } from './pieces.js';
import { linkTo, type Site } from './site.js';

/** Maximum number of allowed values that are shown; the others are collapsed. */
const MAX_SHOWN_VALUES = 8;
/** Maximum depth of objects that are initially expanded. */
const MAX_OPEN_DEPTH = 0;

function renderValues(values: readonly unknown[]): Html | undefined {
  if (values.length === 0) return undefined;
  const all = values.map((value) => html`<code>${JSON.stringify(value)}</code> `);
  const rest = all.slice(MAX_SHOWN_VALUES);
  return html`<p class="choices">${all.slice(0, MAX_SHOWN_VALUES)}${rest.length > 0 && html`<details><summary>${rest.length} more</summary>${rest}</details>`}</p>`;
}

function renderConstraints(texts: readonly string[]): Html | undefined {
  return texts.length === 0 ? undefined : html`<span class="constraints">${prose(texts.join(', '))}</span>`;
}

/** Renders links to the pages of the shared schemas that describe a part's content. */
function schemaLinks(site: Site, { reference }: Part): Html | undefined {
  if (reference === undefined) return undefined;
  const links = reference.split(/ (?:or|and) /).map((name) => {
    const element = site.api.schemaHistory(name);
    return element
      ? html`<a href="${linkTo(site, `/operations/${element.name}`)}">${name}</a> `
      : html`<code>${name}</code> `;
  });
  return html`<span class="type">${links}</span>`;
}

function renderField(site: Site, node: FieldNode, depth: number): Html {
  const { history, part, change, children } = node;
  const shownPart = part ?? history.last;
  const name = depth < 0 ? history.name.slice(history.name.indexOf('.') + 1) : lastSegment(history.name);
  return html`<li id="${history.name}"${!part && html` class="gone"`}><div class="field"><a class="anchor" href="#${history.name}" aria-label="Link to ${history.name}">#</a><code class="field-name">${name}</code> <span class="type">${typeOf(shownPart)}</span> ${schemaLinks(site, shownPart)} ${shownPart.rules.deprecated === true && chip('deprecated', 'warn')} ${
    part?.required && isRequestPart(history.name) && chip('required', 'bad')
  } ${spansChip(site, history.spans)} ${renderChangeMark(change?.change)} ${renderConstraints(constraintsOf(shownPart))}</div>${
    descriptionOf(shownPart) !== undefined && html`<p>${prose(descriptionOf(shownPart))}</p>`
  }${renderValues(listedValuesOfPart(shownPart))}${
    children.length > 0 &&
    html`<details class="inner"${depth <= MAX_OPEN_DEPTH && depth >= 0 && html` open`}><summary>${children.length === 1 && children[0]?.history.name.endsWith('[]') ? 'Items' : `${children.length} ${children.length === 1 ? 'field' : 'fields'}`}</summary><ul class="fields">${children.map((child) => renderField(site, child, depth + 1))}</ul></details>`
  }</li>`;
}

/**
 * Renders the fields of a query, a request or a response; fields of other versions are collapsed. Returns undefined if
 * there are no fields.
 */
export function fieldsSection(site: Site, element: ElementHistory, root: string, title: string): Html | undefined {
  const tree = fieldTree(site, element, root);
  if (tree.length === 0) return undefined;
  const [present, absent] = [keepExistingFields(tree), collectAbsentFields(tree)];
  return html`<section id="${root}"><h2>${title}</h2>
${present.length > 0 ? html`<ul class="fields">${present.map((node) => renderField(site, node, 0))}</ul>` : html`<p class="soft">None at ${site.version.text}.</p>`}
${absent.length > 0 && html`<details class="elsewhere"><summary>${absent.length} at other versions</summary><ul class="fields">${absent.map((node) => renderField(site, node, -1))}</ul></details>`}</section>`;
}
