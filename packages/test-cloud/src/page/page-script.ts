/** Runs in the browser: reads the state once a second and writes it as text, never as markup. */
export const SCRIPT = `'use strict';
const byId = (id) => document.getElementById(id);

function cell(content, className) {
  const td = document.createElement('td');
  if (className) td.className = className;
  td.append(...[content].flat());
  return td;
}

function code(text) {
  const element = document.createElement('code');
  element.textContent = text;
  return element;
}

function load(used, total, unit, label) {
  const meter = document.createElement('meter');
  meter.max = total;
  meter.value = Math.min(used, total);
  meter.setAttribute('aria-label', label);
  return [meter, used + ' of ' + total + unit];
}

function fill(id, rows, empty, columns) {
  const lines = rows.map((cells) => {
    const tr = document.createElement('tr');
    tr.append(...cells);
    return tr;
  });
  if (lines.length === 0) {
    const td = cell(empty);
    td.colSpan = columns;
    const tr = document.createElement('tr');
    tr.append(td);
    lines.push(tr);
  }
  byId(id).replaceChildren(...lines);
}

const stateClass = (state) => (state === 'active' ? 'good' : state === 'error' ? 'bad' : '');
const statusClass = (status) => (status === 0 || status >= 500 ? 'bad' : status < 400 ? 'good' : '');
const gib = (mb) => Math.round(mb / 102.4) / 10;

let countsShown;
function show(state) {
  const total = Object.values(state.counts).reduce((sum, n) => sum + n, 0);
  const parts = Object.entries(state.counts).map(([name, n]) => n + ' ' + name);
  const counts = total + (total === 1 ? ' server' : ' servers') + (parts.length ? ' (' + parts.join(', ') + ')' : '');
  // Said again only when it has changed, for those who hear it.
  if (counts !== countsShown) byId('counts').textContent = countsShown = counts;
  byId('clock').textContent = state.now.slice(0, 19).replace('T', ' ') + ' UTC' + (state.frozen ? ', standing still' : '');
  fill('servers', state.servers.map((server) => [
    cell(server.name), cell(server.state, stateClass(server.state)), cell(server.task || '–'), cell(server.flavor),
    cell(server.host || '–'), cell(server.addresses.join(', ') || '–'), cell(code(server.id)),
  ]), 'No servers yet', 7);
  fill('hosts', state.hosts.map((host) => [
    cell(host.host), cell(String(host.servers)),
    cell(load(host.vcpusUsed, host.vcpus, '', 'CPUs in use on ' + host.host)),
    cell(load(gib(host.memoryUsedMb), gib(host.memoryMb), ' GiB', 'Memory in use on ' + host.host)),
  ]), 'No hosts', 4);
  fill('requests', state.requests.map((request) => [
    cell(request.at), cell(request.method), cell(code(request.url)),
    cell(request.status ? String(request.status) : 'cut off', statusClass(request.status)),
    cell(request.version || '–'), cell(String(request.durationMs)), cell(code(request.requestId)),
  ]), 'No requests yet', 7);
  byId('unserved-section').hidden = state.unserved.length === 0;
  byId('unserved').replaceChildren(...state.unserved.map(({ method, url, count }) => {
    const item = document.createElement('li');
    item.append(code(method + ' ' + url), ' × ' + count);
    return item;
  }));
}

async function refresh() {
  try {
    const response = await fetch('/_page/state');
    show(await response.json());
  } catch {
    byId('counts').textContent = countsShown = 'The cloud does not answer';
  }
}

async function loop() {
  if (byId('live').checked && !document.hidden) await refresh();
  setTimeout(loop, 1000);
}

refresh().then(() => setTimeout(loop, 1000));
`;
