// The request form of an operation.
import { copyText } from './ui.js';

const root = document.documentElement;
/** Maximum number of requests that the page remembers in a session. */
const MAX_SENT = 10;

/** Returns the visitor's input, which {@link restoreInput} restores after the version has changed. */
export function saveInput() {
  const details = document.querySelector('#try');
  if (!details) return undefined;
  const values = [...details.querySelectorAll('[data-typed]')].map(({ id, value }) => [id, value]);
  return { open: details.open, values };
}

/** Restores the input that {@link saveInput} returned. */
export function restoreInput(stored) {
  const details = document.querySelector('#try');
  if (!stored || !details) return;
  for (const [id, value] of stored.values) {
    const field = details.querySelector(`[id="${id}"]`);
    if (field) Object.assign(field, { value }).dataset.typed = '';
  }
  details.open = stored.open;
}

const headersOf = ({ dataset }, token) => ({
  ...(token?.value && { [token.dataset.token]: token.value }),
  ...(dataset.versionHeader && { [dataset.versionHeader]: dataset.versionValue }),
});

function filledPath(path, form) {
  return path.replace(/\{([^}]+)\}/g, (_, name) => {
    const value = form.querySelector(`[data-parameter="${name}"]`)?.value ?? '';
    if (value === '') throw new Error(`Enter a value for ${name}.`);
    return encodeURIComponent(value);
  });
}

const urlOf = (path) => new URL(`${root.dataset.server}${path}`, location.origin);

/** Returns the request that the form describes. Throws if the form is incomplete. */
function requestOf(form) {
  const { method, path } = form.dataset;
  const url = urlOf(filledPath(path, form));
  for (const { value, dataset } of form.querySelectorAll('[data-query]'))
    if (value !== '') url.searchParams.append(dataset.query, value);
  const headers = headersOf(form, form.querySelector('[data-token]'));
  const json = form.querySelector('[data-json]');
  if (!json) return { method, url: url.href, headers };
  try {
    const body = JSON.stringify(JSON.parse(json.value));
    return { method, url: url.href, headers: { ...headers, 'Content-Type': 'application/json' }, body };
  } catch (error) {
    throw new Error(`The request body is not valid JSON: ${error.message}`);
  }
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function curlOf({ method, url, headers, body }) {
  return [
    `curl -sS -X ${method} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ].join(' \\\n  ');
}

/** Returns the items of the list that a response body contains. */
function itemsIn(body) {
  return Object.values(body ?? {}).find(Array.isArray) ?? [];
}

/**
 * Returns the values of one field of the resources in a list. An item may be a wrapper whose only field is the
 * resource.
 */
async function valuesOf({ path, field = 'id', version }, form) {
  const headers = headersOf(form, form.querySelector('[data-token]'));
  if (version) headers[form.dataset.versionHeader] = version;
  const response = await fetch(urlOf(filledPath(path, form)), { headers, credentials: 'omit' });
  if (!response.ok) return [];
  const values = itemsIn(await response.json()).map((item) => {
    const inner = Object.values(item)[0] ?? {};
    return item[field] ?? inner[field] ?? item.name ?? inner.name;
  });
  return values.filter((value) => value !== undefined).map(String);
}

/** Fills path parameters and example fields with existing values. */
async function fillExisting(form) {
  const { parameters, values } = JSON.parse(form.dataset.sources);
  for (const [name, source] of Object.entries(parameters)) {
    const input = form.querySelector(`[data-parameter="${name}"]`);
    try {
      const found = await valuesOf(source, form);
      form
        .querySelector(`[id="values-${name}"]`)
        .replaceChildren(...found.map((value) => Object.assign(document.createElement('option'), { value })));
      if (input.value === '' && found.length > 0) input.value = found[0];
    } catch {
      // The list is unavailable, so the visitor enters a value.
    }
  }
  const json = form.querySelector('[data-json]');
  for (const [name, source] of Object.entries(values)) {
    const [found] = await valuesOf(source, form).catch(() => []);
    if (found === undefined || 'typed' in json.dataset) continue;
    const replaced = JSON.parse(json.value, (key, value) =>
      key === name && typeof value === 'string' ? found : value,
    );
    json.value = JSON.stringify(replaced, null, 2);
  }
}

const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;

/** Returns JSON text as colored nodes, and other text unchanged. */
function colored(text) {
  let pretty;
  try {
    pretty = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return [text || '(no body)'];
  }
  const nodes = [];
  let end = 0;
  for (const match of pretty.matchAll(TOKENS)) {
    const [whole, string, colon, word] = match;
    const kind =
      string === undefined ? (word === undefined ? 'number' : 'word') : colon === undefined ? 'string' : 'key';
    const textContent = string === undefined ? whole : string;
    nodes.push(
      pretty.slice(end, match.index),
      Object.assign(document.createElement('span'), { className: `t-${kind}`, textContent }),
    );
    end = match.index + textContent.length;
  }
  return [...nodes, pretty.slice(end)];
}

/** Adds a request to the list of this session's requests, which all pages share, and shows the list. */
function remember(line) {
  let lines = [];
  try {
    lines = [...(line ? [line] : []), ...JSON.parse(sessionStorage.getItem('sent') ?? '[]')].slice(0, MAX_SENT);
    sessionStorage.setItem('sent', JSON.stringify(lines));
  } catch {
    // Storage is disabled, so the list stays empty.
  }
  const sent = document.querySelector('[data-sent]');
  sent.hidden = lines.length === 0;
  sent.querySelector('ol').replaceChildren(
    ...lines.map(({ text, href }) => {
      const item = document.createElement('li');
      item.append(Object.assign(document.createElement('a'), { href, textContent: text }));
      return item;
    }),
  );
}

async function send(form, messageElement) {
  const { url, ...init } = requestOf(form);
  messageElement.textContent = 'Sending…';
  const output = form.parentElement.querySelector('[data-answer]');
  const start = performance.now();
  const response = await fetch(url, { ...init, credentials: 'omit' });
  const text = await response.text();
  const status = output.querySelector('[data-status]');
  status.textContent = `${response.status} ${response.statusText}`;
  status.className = response.ok ? 'good' : 'bad';
  output.querySelector('[data-duration]').textContent =
    `${Math.round(performance.now() - start)} ms, ${text.length} characters`;
  output.querySelector('[data-headers]').textContent = [...response.headers].map((pair) => pair.join(': ')).join('\n');
  output.querySelector('[data-content]').replaceChildren(...colored(text));
  output.hidden = false;
  messageElement.textContent = `Response: ${response.status}.`;
  remember({ text: `${init.method} ${new URL(url).pathname}: ${response.status}`, href: location.href });
  output.focus({ preventScroll: true });
}

/** Requests a token for a user name and a password. */
async function logIn(form) {
  const details = form.querySelector('[data-identity]');
  const value = (id) => details.querySelector(`[id="${id}"]`).value;
  const domain = { id: 'default' };
  const identity = {
    methods: ['password'],
    password: { user: { name: value('user'), domain, password: value('password') } },
  };
  const auth = { identity, ...(value('project') && { scope: { project: { name: value('project'), domain } } }) };
  const response = await fetch(new URL(`${details.dataset.identity}/auth/tokens`, location.origin), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ auth }),
  });
  const token = response.headers.get('X-Subject-Token');
  if (!response.ok || !token) throw new Error(`The identity service returned ${response.status}.`);
  const field = form.querySelector('[data-token]');
  field.value = token;
  field.dispatchEvent(new Event('change'));
  return 'Logged in.';
}

function activateForm(form) {
  form.hidden = false;
  const details = form.closest('details');
  const messageElement = form.querySelector('[data-said]');
  const token = form.querySelector('[data-token]');
  const reported = async (work) => {
    try {
      const text = await work();
      if (text) messageElement.textContent = text;
    } catch (error) {
      messageElement.textContent = error instanceof TypeError ? 'The API is unreachable.' : error.message;
    }
  };
  if (token) {
    token.value = sessionStorage.getItem('token') ?? token.value;
    token.addEventListener('change', () => {
      sessionStorage.setItem('token', token.value);
      void fillExisting(form);
    });
  }
  form.addEventListener('input', ({ target }) => {
    target.dataset.typed = '';
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void reported(() => send(form, messageElement));
  });
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener('click', ({ target }) => {
    if ('copy' in target.dataset) void reported(() => copyText(curlOf(requestOf(form)), target));
    if ('logIn' in target.dataset) void reported(() => logIn(form));
  });
  const opened = async () => {
    if (!details.open || 'filled' in form.dataset) return;
    form.dataset.filled = 'partly';
    await fillExisting(form);
    form.dataset.filled = 'complete';
  };
  details.addEventListener('toggle', opened);
  void opened();
  remember();
}

/** Prepares all forms of the page. */
export function activateForms() {
  for (const form of document.querySelectorAll('[data-try]')) activateForm(form);
}
