import { byId, cell, code, element, fill, timeOf } from './elements.js';
import { ask } from './server-data.js';

const stateClass = (state) => (state === 'active' ? 'good' : state === 'error' ? 'bad' : undefined);
const gib = (mb) => Math.round(mb / 102.4) / 10;

function load(used, total, unit, label) {
  const meter = element('meter', { max: total, value: Math.min(used, total), 'aria-label': label });
  return [meter, `${used} of ${total}${unit}`];
}

export function showServers(servers) {
  fill('servers', servers, {
    key: ({ id }) => id,
    columns: 7,
    empty: 'No servers yet',
    cells: ({ id, name, state, task, flavor, host, addresses }) => [
      cell(element('a', { href: `#servers/${id}` }, name)),
      cell(state, stateClass(state)),
      cell(task || '–'),
      cell(flavor),
      cell(host || '–'),
      cell(addresses.join(', ') || '–'),
      cell(code(id)),
    ],
  });
}

export function showHosts(hosts) {
  fill('hosts', hosts, {
    key: ({ host }) => host,
    columns: 4,
    empty: 'No hosts',
    cells: ({ host, servers, vcpus, vcpusUsed, memoryMb, memoryUsedMb }) => [
      cell(host),
      cell(String(servers)),
      cell(load(vcpusUsed, vcpus, '', `CPUs in use on ${host}`)),
      cell(load(gib(memoryUsedMb), gib(memoryMb), ' GiB', `Memory in use on ${host}`)),
    ],
  });
}

function step({ name, host, result, durationMs, details }) {
  const took = durationMs === null ? '' : `, ${durationMs} ms`;
  const where = host ? ` on ${host}` : '';
  const resultClass = result === 'Success' ? 'good' : result === 'Error' ? 'bad' : 'warn';
  return element(
    'li',
    {},
    code(name),
    `${where}${took}: `,
    element('span', { class: resultClass }, result),
    details ? ` (${details})` : '',
  );
}

/** What was done to a server, with its steps. */
export function actionList(actions) {
  return element(
    'ol',
    { class: 'history' },
    ...actions.map(({ action, at, failed, requestId, steps }) =>
      element(
        'li',
        {},
        element('strong', { class: failed ? 'bad' : undefined }, action),
        ` at ${timeOf(at)}, `,
        code(requestId),
        element('ul', {}, ...steps.map(step)),
      ),
    ),
  );
}

/** A server's history, newest first. */
export async function serverDetail(id) {
  const { actions } = await ask('GET', `/_page/servers/${encodeURIComponent(id)}`);
  const row = [...byId('servers').children].find(({ dataset }) => dataset.key === id);
  const name = row?.querySelector('a').textContent ?? id;
  return {
    title: `History of ${name}`,
    content: [
      element('p', { class: 'soft' }, code(id)),
      actions.length > 0 ? actionList(actions) : element('p', { class: 'soft' }, 'Nothing was done to it.'),
    ],
  };
}
