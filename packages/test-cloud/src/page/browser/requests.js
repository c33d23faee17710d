import { byId, cell, code, copy, element, fill, pairs, pretty, timeOf } from './elements.js';
import { actionList } from './history.js';
import { ruleFromRequest } from './rules.js';
import { requestJson } from './server-data.js';

const COLUMNS = 7;

const statusClass = (status) => (status === 0 || status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good');
const statusText = (status) => (status ? String(status) : 'closed');
const link = (number, ...content) => element('a', { href: `#requests/${number}` }, ...content);

function filterQuery() {
  const fields = new FormData(byId('filter'));
  return new URLSearchParams([...fields].filter(([, value]) => value !== '')).toString();
}

/** Shows the requests that match the filter. */
export async function showRequests() {
  const query = filterQuery();
  byId('har').href = `/_page/journal.har${query && `?${query}`}`;
  const { requests } = await requestJson('GET', `/_page/requests?${query}`);
  // Another filter was selected in the meantime.
  if (query !== filterQuery()) return;
  fill('requests', requests, {
    key: ({ number }) => number,
    columns: COLUMNS,
    empty: query ? 'No requests match' : 'No requests yet',
    cells: ({ number, at, method, url, status, version, durationMs, requestId }) => [
      cell(timeOf(at)),
      cell(statusText(status), statusClass(status)),
      cell(method),
      cell(link(number, code(url)), 'path'),
      cell(version || '–'),
      cell(String(durationMs)),
      cell(code(requestId)),
    ],
  });
  const note = requests.length >= 300 ? 'The latest 300 are shown.' : query ? `${requests.length} found` : '';
  if (byId('requests-note').textContent !== note) byId('requests-note').textContent = note;
}

function side(title, headers, body) {
  const names = Object.entries(headers);
  return [
    element('h3', {}, title),
    element('details', {}, element('summary', {}, `${names.length} headers`), pairs(names)),
    body === undefined
      ? element('p', { class: 'soft' }, 'No body, not JSON, or too large to show')
      : element('pre', { tabindex: 0, role: 'group', 'aria-label': `${title}: body` }, pretty(body)),
  ];
}

const CHANGE_DESCRIPTIONS = {
  created: 'This request created the resource.',
  removed: 'This request removed the resource.',
  unchanged: 'The responses show no change.',
  unknown: 'Unknown: the journal does not contain the state of the resource before or after this request.',
};

function changes({ id, kind, before, after, fields }, number) {
  const reference = (other) => (other === number ? 'this response' : link(other, `request ${other}`));
  return [
    element('h3', {}, 'What changed'),
    element('p', { class: 'soft' }, 'About ', code(id), '. ', CHANGE_DESCRIPTIONS[kind] ?? ''),
    fields.length > 0 && element('p', { class: 'soft' }, 'Between ', reference(before), ' and ', reference(after), ':'),
    fields.length > 0 &&
      element(
        'dl',
        { id: 'changes' },
        ...fields.flatMap(({ field, before: was, after: is }) => [
          element('dt', {}, field),
          element(
            'dd',
            {},
            element('del', {}, pretty(was) ?? 'nothing'),
            ' → ',
            element('ins', {}, pretty(is) ?? 'nothing'),
          ),
        ]),
      ),
  ];
}

/** Returns the details of a request: its response, its changes, and buttons that copy a command or create a rule. */
export async function requestDetail(number, { control }) {
  const one = await requestJson('GET', `/_page/requests/${number}`);
  const { method, url, status, version, durationMs, requestId, at, userAgent } = one;
  const copyButton = element('button', { type: 'button', onclick: () => copy(one.curl, copyButton) }, 'Copy as curl');
  return {
    title: `${method} ${url}`,
    content: [
      pairs([
        ['Status', element('span', { class: statusClass(status) }, statusText(status))],
        ['Time', `${timeOf(at)}, ${durationMs} ms`],
        ...(version ? [['Version', version]] : []),
        ...(requestId ? [['Request id', requestId]] : []),
        ...(userAgent ? [['Client', userAgent]] : []),
      ]),
      element(
        'p',
        { class: 'bar' },
        copyButton,
        control &&
          element(
            'button',
            { type: 'button', onclick: () => ruleFromRequest(one.rule) },
            'Create a rule from this request',
          ),
      ),
      element('details', {}, element('summary', {}, 'curl'), element('pre', { tabindex: 0 }, one.curl)),
      ...(one.change ? changes(one.change, one.number) : []),
      ...(one.action ? [element('h3', {}, 'Started action'), actionList([one.action])] : []),
      ...side('Request', one.requestHeaders, one.requestBody),
      ...side('Response', one.responseHeaders, one.responseBody),
    ],
  };
}

/** Applies the filter while the visitor types, and moves the focus between requests with arrow keys. */
export function listenToRequests() {
  const apply = () => showRequests().catch(() => {});
  byId('filter').addEventListener('input', apply);
  byId('filter').addEventListener('submit', (event) => {
    event.preventDefault();
    void apply();
  });
  byId('requests').addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    const links = [...byId('requests').querySelectorAll('a')];
    const next = links[links.indexOf(document.activeElement) + step];
    if (!step || !next) return;
    event.preventDefault();
    next.focus();
  });
}
