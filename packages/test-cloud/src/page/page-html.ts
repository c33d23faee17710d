import { type Html, html } from '@apistrata/ui';
import { cloudPage, type PageView, table } from './cloud-page.js';
import { resourceViews } from './resource-views.js';

const options = (values: readonly (readonly [value: string, text: string])[]) =>
  values.map(([value, text]) => html`<option value="${value}">${text}</option>`);

const SERVICES = ['compute', 'identity', 'image', 'network', 'volume', 'placement'];

const requestsView = html`<form id="filter" class="bar" role="search">
<label>Service <select name="service">${options([['', 'all'], ...SERVICES.map((name) => [name, name] as const)])}</select></label>
<label>Status <select name="status">${options([
  ['', 'any'],
  ['2xx', '2xx'],
  ['3xx', '3xx'],
  ['4xx', '4xx'],
  ['5xx', '5xx'],
  ['0', 'closed'],
])}</select></label>
<label class="wide">Text <input type="search" name="text" placeholder="path, name, id, ... ( / )" autocomplete="off" spellcheck="false"></label>
<a id="har" class="button" href="/_page/journal.har" download>Export as HAR</a>
</form>
<p id="requests-note" class="soft" role="status"></p>
${table('requests', 'requests', ['Time', 'Status', 'Method', 'Path', 'Version', 'ms', 'Request id'])}`;

const rulesView = html`<p class="soft without-control" hidden>This cloud was started without <code>control</code>: rules are shown here, but only the program that started it can change them.</p>
${table('rules', 'rules', ['Rule', 'Kind', 'Matches', 'Effect', 'Hits', ''])}
<form id="rule-form" class="with-control" aria-labelledby="rule-form-title">
<h3 id="rule-form-title">Add a rule</h3>
<fieldset><legend>Applies to</legend>
<label><input type="radio" name="kind" value="http" checked> Requests</label>
<label><input type="radio" name="kind" value="machine"> Machines</label>
</fieldset>
<div class="fields" data-kind="http">
<label>Method <select name="method">${options([['', 'any'], ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((name) => [name, name] as const)])}</select></label>
<label class="wide">Path <input name="path" placeholder="/compute/v2.1/servers or /servers$/" spellcheck="false"></label>
<label>Respond with status <input name="status" inputmode="numeric" pattern="[2-5][0-9][0-9]" placeholder="503"></label>
<label class="wide">and this JSON body <input name="body" placeholder="an error of the service" spellcheck="false"></label>
<label><input type="checkbox" name="drop"> Close the connection instead</label>
<label><input type="checkbox" name="apply"> Execute the request first</label>
</div>
<div class="fields" data-kind="machine" hidden>
<label>Step <input name="verb" placeholder="spawn" spellcheck="false"></label>
<label class="wide">Server name <input name="name" placeholder="web-1 or /^web-/" spellcheck="false"></label>
<label class="wide">Fail with <input name="fail" placeholder="No valid host was found"></label>
<label><input type="checkbox" name="hang"> Hang until resumed</label>
</div>
<div class="fields">
<label>Delay in ms <input name="delayMs" inputmode="numeric" pattern="[0-9]+"></label>
<label>From match <input name="fromCall" inputmode="numeric" pattern="[1-9][0-9]*" placeholder="1"></label>
<label>Times <input name="times" inputmode="numeric" pattern="[1-9][0-9]*" placeholder="always"></label>
</div>
<p><button type="submit">Add</button> <span id="rule-problem" class="bad" role="alert"></span></p>
</form>`;

/** Renders text with a button that copies it. */
const renderCopyableText = (
  name: string,
  title: string,
  note: Html,
) => html`<div class="bar"><h3 id="${name}-title">${title}</h3><button type="button" data-copies="${name}" aria-describedby="${name}-title">Copy</button></div>
<p class="soft">${note}</p>
<pre id="${name}" tabindex="0" role="group" aria-labelledby="${name}-title"></pre>`;

const clientsView = html`${renderCopyableText('client-env', 'Environment', html`Paste this into a shell, then run any client. It authenticates as an administrator in the project <code>demo</code>.`)}
${renderCopyableText('client-yaml', 'clouds.yaml', html`Save this as <code>clouds.yaml</code>, then choose a cloud: <code>test-cloud</code> authenticates as a member, <code>test-cloud-admin</code> as an administrator.`)}`;

const clockControls = html`<form id="clock-form" aria-label="Clock">
<span id="clock"></span>
<span class="with-control">
<button type="button" id="freeze" aria-pressed="false">Freeze</button>
<label>Advance by <input id="advance" name="advance" value="5m" size="5" list="durations" autocomplete="off" spellcheck="false"></label>
<datalist id="durations"><option value="30s"><option value="5m"><option value="1h"><option value="1d"></datalist>
<button type="submit">Advance</button>
</span>
<span id="clock-problem" class="bad" role="alert"></span>
</form>`;

const views: readonly PageView[] = [
  { name: 'requests', text: 'Requests', content: requestsView },
  ...resourceViews,
  { name: 'rules', text: 'Rules', content: rulesView },
  {
    name: 'unhandled',
    text: 'Unhandled requests',
    content: html`<p class="soft">Requests that no operation of this cloud serves: unknown paths and unsupported actions.</p>
<ul id="unhandled"></ul>`,
  },
  { name: 'clients', text: 'Connect a client', content: clientsView },
];

/**
 * Renders the page of a test cloud, which adds requests, rules, the clock and client settings to the operators' page.
 *
 * @param maxVersion the cloud's highest compute microversion
 */
export function testCloudPage(maxVersion: string): string {
  return cloudPage({
    title: 'Test cloud',
    home: { href: '/', text: 'Test cloud' },
    links: [{ href: '/docs', text: 'Compute API' }],
    assets: '/_page',
    script: 'page',
    data: { compute: '/_page/compute/v2.1', version: maxVersion },
    controls: clockControls,
    views,
  });
}
