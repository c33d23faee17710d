// What these pages do beyond links and forms: slide over versions in place, send requests, copy them.
const root = document.documentElement;
const main = () => document.querySelector('main');

/** Shows another page in place, keeping the scroll position and the keyboard focus. */
let loading;
async function show(address, push) {
  loading?.abort();
  loading = new AbortController();
  try {
    const response = await fetch(address, { signal: loading.signal, headers: { Accept: 'text/html' } });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const kept = keepTyped();
    main().replaceWith(page.querySelector('main'));
    document.title = page.title;
    root.dataset.version = page.documentElement.dataset.version;
    for (const name of ['header nav', '.search']) {
      const fresh = page.querySelector(name);
      const old = document.querySelector(name);
      if (fresh && old && !old.contains(document.activeElement)) old.replaceWith(fresh);
    }
    if (push) history.pushState(null, '', address);
    wake();
    restoreTyped(kept);
  } catch (error) {
    if (error.name !== 'AbortError') location.assign(address);
  }
}

/** What a visitor has typed into the form stays when the version changes. */
function keepTyped() {
  return [...document.querySelectorAll('[data-try] input[id]')].map(({ id, value }) => [id, value]);
}

function restoreTyped(kept) {
  for (const [id, value] of kept) {
    const field = document.getElementById(id);
    if (field && value !== '') field.value = value;
  }
  for (const input of document.querySelectorAll('[data-body]'))
    if (input.value !== '') input.dispatchEvent(new Event('input'));
}

/** Adds a slider to the list of versions. Both open the page at the selected version. */
function slider() {
  const form = document.querySelector('[data-versions]');
  const select = form?.querySelector('select');
  if (!select || form.querySelector('input[type=range]')) return;
  const range = Object.assign(document.createElement('input'), {
    type: 'range',
    min: 0,
    max: select.options.length - 1,
    value: select.selectedIndex,
  });
  range.setAttribute('aria-label', 'Version');
  range.setAttribute('aria-valuetext', select.value);
  form.querySelector('button').hidden = true;
  form.append(range);
  const go = () => {
    const address = new URL(location.href);
    address.searchParams.set('version', select.value);
    // The page of one version is left for that of another.
    address.pathname = address.pathname.replace(/\/versions\/[^/]+$/, `/versions/${select.value}`);
    show(address, true);
  };
  let timer;
  range.addEventListener('input', () => {
    select.selectedIndex = Number(range.value);
    range.setAttribute('aria-valuetext', select.value);
    clearTimeout(timer);
    timer = setTimeout(go, 120);
  });
  select.addEventListener('change', () => {
    range.value = select.selectedIndex;
    range.setAttribute('aria-valuetext', select.value);
    go();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    go();
  });
}

addEventListener('popstate', () => {
  show(location.href, false).then(() => {
    const select = document.querySelector('[data-versions] select');
    if (!select) return;
    select.value = root.dataset.version;
    const range = document.querySelector('[data-versions] input[type=range]');
    if (range) range.value = select.selectedIndex;
  });
});

addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input, textarea, select')) return;
  event.preventDefault();
  document.querySelector('.search input[type=search]').focus();
});

/** Answers while one types. */
let typing;
document.addEventListener('input', (event) => {
  if (!event.target.matches('.search input[type=search]')) return;
  clearTimeout(typing);
  const { form } = event.target;
  typing = setTimeout(() => {
    const query = new URLSearchParams(new FormData(form));
    show(`${form.action}?${query}`, !location.pathname.endsWith('/search'));
  }, 200);
});

// Trying an operation

function setIn(value, path, leaf) {
  const [name, ...rest] = path;
  const copy = typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  if (rest.length > 0) copy[name] = setIn(copy[name], rest, leaf);
  else if (leaf === undefined) delete copy[name];
  else copy[name] = leaf;
  return copy;
}

function typedValue({ value, dataset }) {
  if (value === '') return undefined;
  if (dataset.kind === 'number') return Number(value);
  return dataset.kind === 'boolean' ? value === 'true' : value;
}

/** Returns the request that the form describes. Throws if the form is incomplete. */
function requestOf(form) {
  const { method, path, versionHeader, versionValue } = form.dataset;
  const filled = path.replace(/\{([^}]+)\}/g, (_, name) => {
    const { value } = form.querySelector(`[data-parameter="${name}"]`);
    if (value === '') throw new Error(`Fill in ${name}.`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const input of form.querySelectorAll('[data-query]'))
    if (input.value !== '') query.append(input.dataset.query, input.value);
  const headers = {};
  const token = form.querySelector('[data-token]');
  if (token?.value) headers[token.dataset.token] = token.value;
  if (versionHeader) headers[versionHeader] = versionValue;
  const json = form.querySelector('[data-json]');
  let body;
  if (json) {
    headers['Content-Type'] = 'application/json';
    try {
      body = JSON.stringify(JSON.parse(json.value));
    } catch (error) {
      throw new Error(`The request body is not valid JSON: ${error.message}`);
    }
  }
  const address = new URL(`${root.dataset.server}${filled}`, location.origin);
  address.search = query;
  return { method, url: address.href, headers, body };
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

const copies = {
  curl: ({ method, url, headers, body }) =>
    [
      `curl -sS -X ${method} ${quoted(url)}`,
      ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
      ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
    ].join(' \\\n  '),
  fetch: ({ method, url, headers, body }) =>
    `await fetch(${JSON.stringify(url)}, ${JSON.stringify({ method, headers, body }, null, 2)});`,
  command: (_, form) =>
    form.dataset.command.replace(/\{([^}]+)\}/g, (_whole, name) =>
      name === 'version'
        ? root.dataset.version
        : quoted(form.querySelector(`[data-parameter="${name}"]`)?.value || name.toUpperCase()),
    ),
};

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function wakeForm(form) {
  form.hidden = false;
  const said = form.querySelector('[data-said]');
  const json = form.querySelector('[data-json]');
  const token = form.querySelector('[data-token]');
  if (token) {
    token.value = sessionStorage.getItem('token') ?? token.value;
    token.addEventListener('change', () => sessionStorage.setItem('token', token.value));
  }
  for (const input of form.querySelectorAll('[data-body]')) {
    input.addEventListener('input', () => {
      try {
        json.value = JSON.stringify(
          setIn(JSON.parse(json.value), JSON.parse(input.dataset.body), typedValue(input)),
          null,
          2,
        );
        said.textContent = '';
      } catch (error) {
        said.textContent = `The request body is not valid JSON: ${error.message}`;
      }
    });
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    said.textContent = 'Sending…';
    const answer = form.parentElement.querySelector('[data-answer]');
    try {
      const { url, ...init } = requestOf(form);
      const response = await fetch(url, { ...init, credentials: 'omit' });
      const text = await response.text();
      answer.querySelector('[data-status]').textContent = `${response.status} ${response.statusText}`;
      answer.querySelector('[data-headers]').textContent = [...response.headers]
        .map((pair) => pair.join(': '))
        .join('\n');
      answer.querySelector('[data-content]').textContent = pretty(text) || '(no body)';
      answer.hidden = false;
      said.textContent = `Response: ${response.status}.`;
      answer.focus();
    } catch (error) {
      said.textContent = error instanceof TypeError ? 'The API is unreachable.' : error.message;
    }
  });
  form.addEventListener('click', async (event) => {
    const kind = event.target.dataset.copy;
    if (!kind) return;
    try {
      const text = copies[kind](requestOf(form), form);
      await navigator.clipboard.writeText(text);
      said.textContent = 'Copied.';
    } catch (error) {
      said.textContent = error.message;
    }
  });
}

function wake() {
  for (const form of document.querySelectorAll('[data-try]')) wakeForm(form);
}

slider();
wake();
