import type { Json, Operation, Outline } from '@apistrata/microversion/router';
import { type Html, html } from '../html.js';
import { type FormField, formFields, sampleOf } from '../model/sample.js';
import type { Site } from './site.js';

interface HeaderScheme {
  readonly name: string;
  readonly description: string | undefined;
}

/** The header for the caller's token, if the API defines one. */
function tokenHeader(site: Site): HeaderScheme | undefined {
  const schemes = Object.values(site.api.options.description?.securitySchemes ?? {}) as Json[];
  const scheme = schemes.find((each) => each.type === 'apiKey' && each.in === 'header');
  if (scheme) return { name: String(scheme.name), description: scheme.description as string | undefined };
  return schemes.some((each) => each.type === 'http') ? { name: 'Authorization', description: undefined } : undefined;
}

function labelled(id: string, label: string, control: Html, required = false): Html {
  return html`<div class="field"><label for="${id}"><code>${label}</code>${required && html` <span class="required">required</span>`}</label>${control}</div>`;
}

function bodyControl(field: FormField, id: string): Html {
  const path = JSON.stringify(field.path);
  if (field.kind === 'choice' || field.kind === 'boolean') {
    const options = field.choices.map((choice) => html`<option>${choice}</option>`);
    return html`<select id="${id}" data-body="${path}" data-kind="${field.kind}"><option value="">not sent</option>${options}</select>`;
  }
  const type = field.kind === 'number' ? 'number' : 'text';
  return html`<input id="${id}" type="${type}" data-body="${path}" data-kind="${field.kind}" autocomplete="off">`;
}

function bodyFields(body: Json): Html {
  const fields = formFields(body);
  const text = JSON.stringify(sampleOf(body), null, 2);
  return html`<fieldset><legend>Body</legend>
${fields.map((field, index) => labelled(`body-${index}`, field.path.join('.'), bodyControl(field, `body-${index}`), field.required))}
${labelled('body', 'JSON', html`<textarea id="body" data-json rows="8" spellcheck="false">${text}</textarea>`)}
</fieldset>`;
}

function tokenFields(site: Site, header: HeaderScheme): Html {
  const offered = site.api.options.tokens ?? [];
  return html`<fieldset><legend>Authentication</legend>
${labelled('token', header.name, html`<input id="token" data-token="${header.name}" list="tokens" autocomplete="off" spellcheck="false"${offered[0] && html` value="${offered[0].token}"`}>`)}
${offered.length > 0 && html`<datalist id="tokens">${offered.map(({ label, token }) => html`<option value="${token}">${label}</option>`)}</datalist>`}
${header.description !== undefined && html`<p>${header.description}</p>`}</fieldset>`;
}

/** Renders a form that sends the operation at the selected version. Requires the script of the page. */
export function tryForm(site: Site, name: string, operation: Operation, outline: Outline): Html {
  const { api, version } = site;
  const parameters = [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, parameter]) => parameter as string);
  const header = tokenHeader(site);
  const versionHeader = api.options.description?.versionHeaders?.[0];
  return html`<section id="try"><h2>Try it</h2>
<noscript><p>This form requires JavaScript. All other parts of these pages work without it.</p></noscript>
<form data-try data-method="${operation.method}" data-path="${operation.path}"${
    versionHeader &&
    html` data-version-header="${versionHeader.name}" data-version-value="${versionHeader.value(version.text)}"`
  }${api.options.commands?.[name] !== undefined && html` data-command="${api.options.commands[name]}"`} hidden>
${header && tokenFields(site, header)}
${parameters.length > 0 && html`<fieldset><legend>Path</legend>${parameters.map((parameter) => labelled(`path-${parameter}`, parameter, html`<input id="path-${parameter}" data-parameter="${parameter}" required autocomplete="off" spellcheck="false">`, true))}</fieldset>`}
${outline.query.length > 0 && html`<details><summary>Query (${outline.query.length})</summary>${outline.query.map(({ name: parameter }) => labelled(`query-${parameter}`, parameter, html`<input id="query-${parameter}" data-query="${parameter}" autocomplete="off" spellcheck="false">`))}</details>`}
${outline.body && bodyFields(outline.body)}
<div class="buttons"><button type="submit">Send at ${version.text}</button>
<button type="button" data-copy="curl">Copy as curl</button> <button type="button" data-copy="fetch">Copy as fetch</button>${
    api.options.commands?.[name] !== undefined &&
    html` <button type="button" data-copy="command">Copy as command line</button>`
  }
<span role="status" aria-live="polite" data-said></span></div>
</form>
<div class="answer" data-answer hidden tabindex="-1"><h3>Response <span data-status></span></h3><pre data-headers tabindex="0"></pre><pre data-content tabindex="0"></pre></div>
</section>`;
}
