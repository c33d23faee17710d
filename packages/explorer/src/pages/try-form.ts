import type { Json, OperationShape } from '@apistrata/microversion-router';
import { type Html, html, prose } from '@apistrata/ui';
import type { SampleRequest } from '../model/code-samples.js';
import { pathParameters, tokenHeader } from '../model/sample-request.js';
import type { Site } from './site.js';

function labeledControl(id: string, label: string, control: Html): Html {
  return html`<div class="control"><label for="${id}"><code>${label}</code></label>${control}</div>`;
}

function tokenFields(site: Site): Html | undefined {
  const header = tokenHeader(site);
  if (!header) return undefined;
  const { tokens = [], authentication } = site.api.options;
  const authenticationText = authentication?.text ?? header.description;
  return html`<fieldset><legend>Authentication</legend>
${authenticationText !== undefined && html`<p class="soft small">${prose(authenticationText)}</p>`}
${labeledControl('token', header.name, html`<input id="token" data-token="${header.name}" list="tokens" autocomplete="off" spellcheck="false"${tokens[0] && html` value="${tokens[0].token}"`}>`)}
${tokens.length > 0 && html`<datalist id="tokens">${tokens.map(({ label, token }) => html`<option value="${token}">${label}</option>`)}</datalist>`}
${
  authentication?.identityUrl !== undefined &&
  html`<details data-identity="${authentication.identityUrl}"><summary>Log in</summary>
${labeledControl('user', 'User', html`<input id="user" autocomplete="username">`)}${labeledControl('password', 'Password', html`<input id="password" type="password" autocomplete="current-password">`)}${labeledControl('project', 'Project', html`<input id="project">`)}
<button type="button" data-log-in>Log in</button></details>`
}</fieldset>`;
}

/** Returns, for each path parameter, the path of the list that contains possible values, if the API has such a list. */
function parameterSources({ api, version }: Site, path: string): Readonly<Record<string, Json>> {
  const entries = pathParameters(path).flatMap((name) => {
    const list = path.slice(0, path.indexOf(`{${name}}`)).replace(/\/$/, '');
    const listExists = api.options.operations.some(
      (operation) =>
        operation.method === 'GET' && operation.path === list && api.historyOf(operation)?.existsAt(version),
    );
    return listExists ? [[name, { path: list }] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** Returns the entries of the option `valueSources` for the fields that a body contains. */
function bodyValueSources(site: Site, body: unknown): Readonly<Record<string, Json>> {
  const text = JSON.stringify(body) ?? '';
  const header = site.api.options.description?.versionHeaders?.[0];
  const entries = Object.entries(site.api.options.valueSources ?? {}).filter(([name]) =>
    text.includes(`${JSON.stringify(name)}:`),
  );
  return Object.fromEntries(
    entries.map(([name, source]) => [
      name,
      { ...source, ...(source.version !== undefined && header && { version: header.value(source.version) }) },
    ]),
  );
}

/** Renders a form that sends a sample request. The form requires JavaScript. */
export function requestForm(site: Site, path: string, shape: OperationShape, request: SampleRequest): Html {
  const { api, version } = site;
  const header = api.options.description?.versionHeaders?.[0];
  const sources = JSON.stringify({
    parameters: parameterSources(site, path),
    values: bodyValueSources(site, request.body),
  });
  const body = request.body === undefined ? undefined : JSON.stringify(request.body, null, 2);
  return html`<details class="card try" id="try"><summary class="card-head"><span>Try it</span> <kbd>t</kbd></summary>
<noscript><p>This form requires JavaScript. All other parts of these pages work without it.</p></noscript>
<form data-try data-method="${request.method}" data-path="${path}" data-sources="${sources}"${
    header && html` data-version-header="${header.name}" data-version-value="${header.value(version.text)}"`
  } hidden>
${tokenFields(site)}
${pathParameters(path).map((name) => labeledControl(`path-${name}`, name, html`<input id="path-${name}" data-parameter="${name}" list="values-${name}" required autocomplete="off" spellcheck="false"><datalist id="values-${name}"></datalist>`))}
${shape.query.length > 0 && html`<details><summary>Query parameters (${shape.query.length})</summary>${shape.query.map(({ name }) => labeledControl(`query-${name}`, name, html`<input id="query-${name}" data-query="${name}" autocomplete="off" spellcheck="false">`))}</details>`}
${body !== undefined && labeledControl('body', 'Body', html`<textarea id="body" data-json rows="${Math.min(body.split('\n').length + 1, 16)}" spellcheck="false">${body}</textarea>`)}
<div class="buttons"><button type="submit" class="button-main" aria-keyshortcuts="Control+Enter">Send at ${version.text}</button> <button type="button" data-copy>Copy as curl</button></div>
<p role="status" aria-live="polite" class="small" data-said></p>
</form>
<div class="answer" data-answer hidden tabindex="-1"><p class="answer-head"><strong data-status></strong> <span class="soft small" data-duration></span></p><details><summary>Headers</summary><pre data-headers tabindex="0"></pre></details><pre data-content tabindex="0" role="group" aria-label="Response body"></pre></div>
<details class="sent" data-sent hidden><summary>Requests in this session</summary><ol></ol></details>
</details>`;
}
