import { compute, upTo } from './compute.js';
import { byId, cell, chip, code, element, fill } from './elements.js';
import { showCount } from './views.js';

const SHOWN_SERVERS = 100;
/** The version of the page's requests. Since 2.47, servers contain their flavor; later changes do not affect it. */
export const VERSION = upTo('2.90');
const TONES = { active: 'good', error: 'bad', build: 'info', shutoff: 'plain' };

export const addressesOf = ({ addresses }) => Object.values(addresses).flatMap((all) => all.map(({ addr }) => addr));
export const flavorOf = ({ flavor }) => flavor.original_name ?? flavor.id;
export const hostOf = (server) => server['OS-EXT-SRV-ATTR:host'];

export function stateChip({ status }) {
  const state = status.toLowerCase();
  return chip(state, TONES[state] ?? 'warn');
}

/** Returns the total number of servers and the number in each state, as text. */
function countsText(servers, total) {
  const states = new Map();
  for (const { status } of servers) states.set(status, (states.get(status) ?? 0) + 1);
  const parts = [...states].map(([status, count]) => `${count} ${status.toLowerCase()}`);
  return `${total} ${total === '1' ? 'server' : 'servers'}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`;
}

/** Reads and shows the newest servers of all projects, or of the visitor's project. */
export async function showServers(allProjects) {
  const query = `limit=${SHOWN_SERVERS}${allProjects ? '&all_tenants=1' : ''}`;
  const { servers, servers_links: next } = await compute('GET', `/servers/detail?${query}`, undefined, VERSION);
  const total = `${servers.length}${next ? '+' : ''}`;
  const counts = countsText(servers, total);
  // Screen readers announce a live region each time its text is set.
  if (byId('counts').textContent !== counts) byId('counts').textContent = counts;
  showCount('servers', total === '0' ? '' : total);
  fill('servers', servers, {
    key: ({ id }) => id,
    columns: 7,
    empty: 'No servers yet',
    cells: (server) => [
      cell(element('a', { href: `#servers/${server.id}` }, server.name)),
      cell(stateChip(server)),
      cell(server['OS-EXT-STS:task_state'] ?? '–'),
      cell(flavorOf(server)),
      cell(hostOf(server) || '–'),
      cell(addressesOf(server).join(', ') || '–'),
      cell(code(server.id)),
    ],
  });
}
