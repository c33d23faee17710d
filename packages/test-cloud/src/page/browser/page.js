// The page of a test cloud. It shows the same resources as the operators' page, and requests, rules, unhandled requests and the clock.
import { listenToClients, showClients } from './clients.js';
import { listenToClock, showClock } from './clock.js';
import { useToken } from './compute.js';
import { listenToCreate, showChoices } from './create-server.js';
import { byId, code, element } from './elements.js';
import { listenToRequests, requestDetail, showRequests } from './requests.js';
import { showAllResources, showResources } from './resources.js';
import { listenToRules, showRules } from './rules.js';
import { requestJson } from './server-data.js';
import { serverDetail } from './server-detail.js';
import { showServers } from './servers.js';
import { showCount, startViews } from './views.js';

let state = { control: false };

function show(next) {
  state = next;
  showClock(state);
  showRules(state.rules, state.control);
  byId('unhandled').replaceChildren(
    ...state.unhandled.map(({ method, url, count }) => element('li', {}, code(`${method} ${url}`), ` × ${count}`)),
  );
  for (const part of document.querySelectorAll('.with-control')) part.hidden = !state.control;
  for (const part of document.querySelectorAll('.without-control')) part.hidden = state.control;
  showCount('rules', state.rules.length);
  showCount('unhandled', state.unhandled.length);
}

async function readState() {
  const next = await requestJson('GET', '/_page/state');
  // Tokens become invalid when the cloud is reset.
  useToken(next.token);
  show(next);
}

async function refresh() {
  try {
    await Promise.all([readState(), showRequests()]);
    await Promise.all([showServers(true), showResources(views.view(), true)]);
  } catch {
    byId('counts').textContent = 'The cloud does not respond';
  }
}

const details = {
  requests: (number) => requestDetail(number, state),
  servers: (id) => serverDetail(id, state.control),
};

await readState();
const views = startViews((view) => details[view], refresh);
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest?.('input, select, textarea')) return;
  event.preventDefault();
  location.hash = '#requests';
  byId('filter').elements.namedItem('text').focus();
});
listenToRequests();
listenToRules(refresh);
listenToCreate(refresh);
listenToClock();
listenToClients();
await Promise.all([showClients(), showChoices(), showAllResources(true)]);
