import { exampleAt, type Operation, type Part, type PartChange } from '@apistrata/microversion/router';
import { type Html, html, prose } from '../html.js';
import type { Lifeline, PartLife } from '../model/lifeline.js';
import { depthOf, ownName } from '../model/part-name.js';
import { descriptionOf, rulesText } from '../model/rules-text.js';
import { layout } from './layout.js';
import { changeMark, partChangeItem, signature, spansBadge } from './pieces.js';
import { linkTo, type Site } from './site.js';
import { timeline } from './timeline.js';
import { tryForm } from './try-form.js';

interface Row {
  readonly life: PartLife;
  /** The part at the selected version; undefined if that version does not have it. */
  readonly part: Part | undefined;
  readonly change: PartChange | undefined;
}

function rowsOf(site: Site, line: Lifeline, prefix: string): readonly Row[] {
  const present = line.at(site.version)?.outline.parts;
  const changes = new Map(line.changeAt(site.version)?.parts.map((change) => [change.name, change]));
  return [...line.parts.values()]
    .filter(({ name }) => name.startsWith(prefix) && name !== prefix)
    .map((life) => ({ life, part: present?.get(life.name), change: changes.get(life.name) }));
}

function fieldRow(site: Site, { life, part, change }: Row): Html {
  const shown = part ?? life.last;
  const depth = Math.min(Math.max(depthOf(life.name), 0), 6);
  return html`<tr id="${life.name}"${!part && html` class="gone"`}><th scope="row" class="depth-${depth}"><code>${ownName(life.name)}</code>${
    part?.required && life.name.startsWith('body') && html` <span class="required">required</span>`
  }</th><td>${rulesText(shown)}</td><td>${prose(descriptionOf(shown))}</td><td>${spansBadge(site, life.spans)} ${changeMark(change?.change)}</td></tr>`;
}

function fields(site: Site, title: string, rows: readonly Row[]): Html | undefined {
  const here = rows.filter(({ part }) => part);
  const elsewhere = rows.filter(({ part }) => !part);
  if (rows.length === 0) return undefined;
  const head = html`<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Description</th><th scope="col">Versions</th></tr></thead>`;
  return html`<section><h2>${title}</h2>
${here.length > 0 ? html`<div class="scroll" tabindex="0" role="group" aria-label="${title}"><table>${head}<tbody>${here.map((row) => fieldRow(site, row))}</tbody></table></div>` : html`<p>None at ${site.version.text}.</p>`}
${elsewhere.length > 0 && html`<details><summary>${elsewhere.length} at other versions</summary><div class="scroll" tabindex="0" role="group" aria-label="${title} at other versions"><table>${head}<tbody>${elsewhere.map((row) => fieldRow(site, row))}</tbody></table></div></details>`}</section>`;
}

function examples({ api, version }: Site, operation: Operation): Html | undefined {
  const example = exampleAt(api.options.description?.exampleOf, operation, version);
  if (!example) return undefined;
  const shown = (title: string, value: unknown) =>
    value !== undefined &&
    html`<h3>${title}</h3><pre tabindex="0" role="group" aria-label="${title} of the example"><code>${JSON.stringify(value, null, 2)}</code></pre>`;
  return html`<section id="example"><h2>Example</h2><details><summary>Example for ${version.text}</summary>
${shown('Request', example.request)}${shown('Response', example.response)}</details></section>`;
}

function statuses(site: Site, line: Lifeline, operation: Operation): Html {
  const at = line.at(site.version);
  const general = site.api.options.description?.errors;
  const errors = at?.outline.errors ?? [];
  return html`<section><h2>Status codes</h2><dl class="statuses">
${at && html`<div><dt>${at.outline.status}</dt><dd>Success</dd></div>`}
${errors.map((status) => html`<div><dt>${status}</dt><dd>${prose(operation.when?.[status] ?? general?.[status] ?? 'Error')}</dd></div>`)}
</dl></section>`;
}

function pathParameters(operation: Operation): Html | undefined {
  const names = [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name as string);
  if (names.length === 0) return undefined;
  return html`<section><h2>Path parameters</h2><dl class="path">${names.map(
    (name) => html`<div><dt><code>${name}</code></dt><dd>${prose(operation.parameters?.[name])}</dd></div>`,
  )}</dl></section>`;
}

function history(site: Site, line: Lifeline): Html {
  const steps = [...line.steps].reverse();
  return html`<section id="history"><h2>History</h2>${timeline(site, line)}
${
  steps.length === 0
    ? html`<p>Unchanged from ${site.api.versions.min.text} to ${site.api.versions.max.text}.</p>`
    : html`<ol class="steps">${steps.map((step) => {
        const note = site.api.options.history?.[step.version];
        return html`<li><h3><a href="${linkTo({ ...site, version: site.api.versions.find(step.version) ?? site.version }, `/operations/${line.name}`)}">${step.version}</a> ${step.change !== 'changed' && changeMark(step.change)}</h3>${
          note !== undefined && html`<p>${prose(note)}</p>`
        }${step.parts.length > 0 && html`<ul>${step.parts.map((part) => partChangeItem(site, part, false))}</ul>`}</li>`;
      })}</ol>`
}</section>`;
}

/** Renders an operation at a version: request, response, history, and a form to send it. */
export function operationPage(site: Site, line: Lifeline): Html {
  const { version } = site;
  const at = line.at(version);
  const operation = line.shownAt(version);
  const change = line.changeAt(version);
  const description = at?.outline.description;
  const policy = [operation.policy ?? []].flat();
  const content = html`<h1>${operation.summary}</h1>
<p class="signature">${signature(operation.method, operation.path, operation.action)} <code class="id">${line.name}</code> ${spansBadge(site, line.spans)} ${changeMark(change?.change)}</p>
${!at && html`<p class="absent" role="note">Version ${version.text} does not have this operation and returns 404. This page describes it at other versions.</p>`}
${description !== undefined && html`<p>${prose(description)}</p>`}
${policy.length > 0 && html`<p>Policy: ${policy.map((rule) => html`<code>${rule}</code> `)}</p>`}
${pathParameters(operation)}
${fields(site, 'Query parameters', rowsOf(site, line, 'query.'))}
${fields(site, 'Request', rowsOf(site, line, 'body'))}
${fields(site, 'Response', rowsOf(site, line, 'reply'))}
${statuses(site, line, operation)}
${at && examples(site, at.operation)}
${at && tryForm(site, line.name, at.operation, at.outline)}
${history(site, line)}`;
  return layout(site, { title: operation.summary, path: `/operations/${line.name}`, content });
}
