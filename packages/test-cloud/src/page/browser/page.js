// Reads the state once a second and shows one view of it; the address says which: #requests, #servers/ID, #rules.
import { listenToClients, showClients } from './clients.js';
import { listenToClock, showClock } from './clock.js';
import { byId, code, element } from './elements.js';
import { listenToRequests, requestDetail, showRequests } from './requests.js';
import { listenToRules, showRules } from './rules.js';
import { ask } from './server-data.js';
import { serverDetail, showHosts, showServers } from './servers.js';

const VIEWS = ['requests', 'servers', 'hosts', 'rules', 'unserved', 'clients'];
const DETAILS = { requests: requestDetail, servers: serverDetail };

let state = { control: false };
let countsShown;

function sayCounts(text) {
  // Said again only when it has changed, for those who hear it.
  if (text !== countsShown) byId('counts').textContent = countsShown = text;
}

function place() {
  const [view, ...rest] = location.hash.slice(1).split('/');
  return VIEWS.includes(view) ? { view, id: rest.join('/') } : { view: 'requests', id: '' };
}

function show(next) {
  state = next;
  const total = Object.values(state.counts).reduce((sum, n) => sum + n, 0);
  const parts = Object.entries(state.counts).map(([name, n]) => `${n} ${name}`);
  sayCounts(`${total} ${total === 1 ? 'server' : 'servers'}${parts.length ? ` (${parts.join(', ')})` : ''}`);
  showClock(state);
  showServers(state.servers);
  showHosts(state.hosts);
  showRules(state.rules, state.control);
  byId('unserved').replaceChildren(
    ...state.unserved.map(({ method, url, count }) => element('li', {}, code(`${method} ${url}`), ` × ${count}`)),
  );
  for (const part of document.querySelectorAll('.with-control')) part.hidden = !state.control;
  for (const part of document.querySelectorAll('.without-control')) part.hidden = state.control;
  const counts = {
    servers: total,
    hosts: state.hosts.length,
    rules: state.rules.length,
    unserved: state.unserved.length,
  };
  for (const [view, count] of Object.entries(counts))
    document.querySelector(`nav [data-view=${view}] .count`).textContent = count || '';
}

async function refresh() {
  try {
    const [next] = await Promise.all([ask('GET', '/_page/state'), showRequests()]);
    show(next);
  } catch {
    sayCounts('The cloud does not answer');
  }
}

let openedFrom;

/** Shows what the address names. */
async function go() {
  const { view, id } = place();
  for (const name of VIEWS) byId(`view-${name}`).hidden = name !== view;
  for (const tab of document.querySelectorAll('nav [data-view]'))
    if (tab.dataset.view === view) tab.setAttribute('aria-current', 'page');
    else tab.removeAttribute('aria-current');
  const opens = id !== '' && DETAILS[view] !== undefined;
  const wasOpen = !byId('detail').hidden;
  for (const row of document.querySelectorAll('tr.chosen')) row.classList.remove('chosen');
  byId('close').href = `#${view}`;
  if (!opens) {
    byId('detail').hidden = true;
    if (wasOpen) document.querySelector(`#${view} [data-key="${CSS.escape(openedFrom)}"] a`)?.focus();
    return;
  }
  openedFrom = id;
  const detail = await DETAILS[view](id, state).catch((error) => ({
    title: 'Not there',
    content: [element('p', { class: 'soft' }, `${error.message} The journal keeps the last few thousand requests.`)],
  }));
  // Another one was opened meanwhile.
  if (place().id !== id) return;
  document.querySelector(`#${view} [data-key="${CSS.escape(id)}"]`)?.classList.add('chosen');
  byId('detail-title').textContent = detail.title;
  byId('detail-body').replaceChildren(...detail.content.filter(Boolean));
  byId('detail').hidden = false;
  byId('detail').scrollTop = 0;
  byId('detail-title').focus();
}

async function loop() {
  if (byId('live').checked && !document.hidden) await refresh();
  setTimeout(loop, 1000);
}

document.addEventListener('keydown', (event) => {
  const typing = event.target.closest?.('input, select, textarea');
  if (event.key === '/' && !typing) {
    event.preventDefault();
    location.hash = '#requests';
    byId('filter').elements.namedItem('text').focus();
  } else if (event.key === 'Escape' && !byId('detail').hidden) location.hash = byId('close').hash;
});
window.addEventListener('hashchange', go);
listenToRequests();
listenToRules(refresh);
listenToClock();
listenToClients();
await Promise.all([refresh(), showClients()]);
await go();
setTimeout(loop, 1000);
