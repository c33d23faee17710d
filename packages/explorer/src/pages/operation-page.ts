import type { Operation, OperationShape } from '@apistrata/microversion-router';
import { card, chip, codeBlock, type Html, html, note, prose, tabs } from '@apistrata/ui';
import { SHARED_SCHEMA_TAG } from '../documents/shared-schemas.js';
import { createCodeSamples, isJson, type SampleRequest } from '../model/code-samples.js';
import type { ElementHistory } from '../model/element-history.js';
import { createSample, pathParameters } from '../model/sample-request.js';
import { fieldsSection } from './fields.js';
import { layout } from './layout.js';
import { partChangeItem, renderChangeMark, renderSignature, spansChip } from './pieces.js';
import { linkTo, type Site } from './site.js';
import { timeline } from './timeline.js';
import { requestForm } from './try-form.js';

const ASYNCHRONOUS_STATUS = 202;

function labels(site: Site, element: ElementHistory, operation: Operation, shape: OperationShape | undefined): Html {
  const facts = site.api.options.facts?.(operation);
  const lastVersion = element.spans.at(-1)?.until;
  return html`<p class="chips">${spansChip(site, element.spans)} ${renderChangeMark(element.changeAt(site.version)?.change)} ${
    ((lastVersion && lastVersion !== site.api.versions.max) || shape?.isDeprecated) && chip('deprecated', 'warn')
  } ${facts?.adminOnly && chip('administrators', 'bad')} ${shape?.status === ASYNCHRONOUS_STATUS && chip('asynchronous')} ${
    site.api.options.description?.isPublic?.(operation) && chip('public', 'good')
  } <code class="soft small">${element.name}</code></p>`;
}

function statesTable({ api }: Site, operation: Operation): Html | undefined {
  const rows = Object.entries(api.options.facts?.(operation)?.states ?? {});
  if (rows.length === 0) return undefined;
  return html`<section id="states"><h2>Allowed states</h2><p class="soft">In other states, the response is 409.</p><table>${rows.map(
    ([name, text]) => html`<tr><th scope="row"><code>${name}</code></th><td>${prose(text)}</td></tr>`,
  )}</table></section>`;
}

function statusRow(status: number, text: string | undefined, success = false): Html {
  return html`<tr id="status-${status}"><th scope="row">${chip(status, success ? 'good' : status < 500 ? 'warn' : 'bad')}</th><td>${prose(text)}</td></tr>`;
}

/** Returns the statuses that the router can return even if an operation does not declare them. */
function generalStatuses(site: Site, { method }: Operation, shape: OperationShape): readonly number[] {
  const errorStatuses = Object.keys(site.api.options.description?.errors ?? {}).map(Number);
  const bodyErrorStatuses = method === 'GET' || method === 'DELETE' ? [] : [413, 415];
  const possibleStatuses = [400, 401, 404, 406, 429, 500, 503, ...bodyErrorStatuses];
  return errorStatuses.filter((status) => possibleStatuses.includes(status) && !shape.errors.includes(status));
}

function statusTable(site: Site, operation: Operation, shape: OperationShape): Html {
  const generalCauses = site.api.options.description?.errors ?? {};
  const otherStatuses = generalStatuses(site, operation, shape);
  const success = shape.reply === undefined ? 'Success, without a body.' : 'Success.';
  return html`<section id="statuses"><h2>Status codes</h2><table>
${statusRow(shape.status, shape.status === ASYNCHRONOUS_STATUS ? 'Accepted. The work continues after the response.' : success, true)}
${shape.errors.map((status) => statusRow(status, operation.when?.[status] ?? generalCauses[status] ?? 'Error'))}
${otherStatuses.map((status) => statusRow(status, generalCauses[status]))}</table></section>`;
}

function pathParameterSection(
  site: Site,
  element: ElementHistory,
  { path, parameters: texts }: Operation,
): Html | undefined {
  const describedFields = fieldsSection(site, element, 'path', 'Path parameters');
  if (describedFields) return describedFields;
  const names = pathParameters(path);
  if (names.length === 0) return undefined;
  return html`<section id="path"><h2>Path parameters</h2><ul class="fields">${names.map(
    (name) =>
      html`<li id="path.${name}"><div class="field"><a class="anchor" href="#path.${name}" aria-label="Link to path.${name}">#</a><code class="field-name">${name}</code> <span class="type">string</span> ${chip('required', 'bad')}</div>${texts?.[name] !== undefined && html`<p>${prose(texts[name])}</p>`}</li>`,
  )}</ul></section>`;
}

/** Renders the fields of all responses except the first successful one. */
function otherResponses(site: Site, element: ElementHistory): Html[] {
  const roots = new Set(
    [...element.parts.keys()].flatMap((name) => /^(?:errors|statuses)\.\w+(?=[.[])/.exec(name) ?? []),
  );
  return [...roots].flatMap(
    (root) => fieldsSection(site, element, root, `Response ${root.slice(root.indexOf('.') + 1)}`) ?? [],
  );
}

function historySection(site: Site, element: ElementHistory): Html {
  const { options, versions } = site.api;
  const steps = [...element.steps].reverse().map((step) => {
    const version = versions.find(step.version) ?? site.version;
    const versionText = options.history?.[step.version];
    return html`<li id="at-${step.version}"><h3><a href="${linkTo({ ...site, version }, `/operations/${element.name}`)}">${step.version}</a> ${step.change !== 'changed' && renderChangeMark(step.change)} ${step.breaking && chip('breaking', 'bad')}</h3>${
      versionText !== undefined && html`<p>${prose(versionText)}</p>`
    }${step.parts.length > 0 && html`<ul>${step.parts.map((part) => partChangeItem(site, part, false))}</ul>`}</li>`;
  });
  const unchanged = html`<p class="soft">Unchanged from ${versions.min.text} to ${versions.max.text}.</p>`;
  return html`<section id="history"><h2>History</h2>${timeline(site, element)}${steps.length === 0 ? unchanged : html`<ol class="steps">${steps}</ol>`}</section>`;
}

/** Returns whether a page's form can send a request. Static pages require a server URL, and bodies must be JSON. */
function canSend({ api, links }: Site, { body, mediaType }: SampleRequest): boolean {
  if (links.isStatic && !/^https?:/.test(api.server)) return false;
  return body === undefined || isJson(mediaType);
}

/** Renders code samples, the response, and the form that sends the request. */
function codeColumn(site: Site, element: ElementHistory, operation: Operation, shape: OperationShape): Html {
  const { samples, commands } = site.api.options;
  const { request, response } = createSample(site, element.name, operation, shape);
  const code = createCodeSamples(request, samples, commands).map((sample) => ({
    label: sample.label,
    content: codeBlock(sample.code, `the ${sample.label} sample`),
  }));
  const body = response === undefined ? undefined : JSON.stringify(response, null, 2);
  return html`<div class="op-code" id="example">
<div class="samples">${tabs(code, { name: 'sample', label: 'Language of the code sample', remembered: true })}</div>
${canSend(site, request) && requestForm(site, operation.path, shape, request)}
${card(html`<span>Response</span> ${chip(shape.status, 'good')}`, body === undefined ? html`<p class="soft none">No body.</p>` : codeBlock(body, 'the response'))}
</div>`;
}

/** Renders an operation at a version: request, response, history, and a form that sends the request. */
export function operationPage(site: Site, element: ElementHistory): Html {
  const { api, version } = site;
  const at = element.at(version);
  const operation = element.definitionAt(version);
  const isSchema = element.tag === SHARED_SCHEMA_TAG;
  const policy = [operation.policy ?? []].flat();
  const alias = api.options.tagAliases?.[element.tag];
  const description = at?.shape.description;
  const content = html`<div class="op">
<div class="op-head"><p class="crumb">${isSchema ? element.tag : html`<a href="${linkTo(site, '/')}#${alias ?? element.tag}">${api.navigation.title(element.tag)}</a>`}</p>
<h1>${operation.summary}</h1>
<p>${renderSignature(operation.method, operation.path, operation.action)}</p>
${labels(site, element, operation, at?.shape)}
${!at && note(`Version ${version.text} does not have this operation and returns 404. This page describes the operation at other versions.`, 'warn')}
${alias !== undefined && note(html`This operation is identical to an operation in <a href="${linkTo(site, '/')}#${alias}">${api.navigation.title(alias)}</a>, except for its path.`)}
${description !== undefined && html`<p class="lead">${prose(description)}</p>`}
${policy.length > 0 && html`<p class="soft small">Policy: ${policy.map((rule) => html`<code>${rule}</code> `)}</p>`}</div>
${at && !isSchema && codeColumn(site, element, at.operation, at.shape)}
<div class="op-body">${statesTable(site, operation)}
${pathParameterSection(site, element, operation)}
${fieldsSection(site, element, 'query', 'Query parameters')}
${fieldsSection(site, element, 'header', 'Request headers')}
${fieldsSection(site, element, 'cookie', 'Cookies')}
${fieldsSection(site, element, 'body', isSchema ? 'In requests' : 'Request body')}
${fieldsSection(site, element, 'reply', isSchema ? 'In responses' : 'Response')}
${fieldsSection(site, element, 'headers', 'Response headers')}
${otherResponses(site, element)}
${at && !isSchema && statusTable(site, at.operation, at.shape)}
${historySection(site, element)}</div></div>`;
  return layout(site, {
    title: operation.summary,
    path: `/operations/${element.name}`,
    operation: element.name,
    wide: true,
    content,
  });
}
