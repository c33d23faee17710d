import { compute, upTo } from './compute.js';
import { byId, cell, chip, code, dateOf, element, fill } from './elements.js';
import { showCount } from './views.js';

const gib = (mib) => Math.round(mib / 102.4) / 10;
const TONES = { active: 'good', available: 'good', 'in-use': 'info', up: 'good', down: 'bad', error: 'bad' };
const stateCell = (state) => cell(chip(state.toLowerCase(), TONES[state.toLowerCase()] ?? 'warn'));

function load(used, total, unit, label) {
  const max = Math.max(total, 1);
  return cell([
    element('meter', { max, value: Math.min(used, max), 'aria-label': label }),
    `${used} of ${total}${unit}`,
  ]);
}

function limit(used, max, unit, label) {
  return max < 0 ? cell(`${used}${unit}, unlimited`) : load(used, max, unit, label);
}

/**
 * The rows of a project's limits: the label, the fields with usage and limit, the conversion to the unit, and the unit.
 */
const LIMITS = [
  ['Servers', 'totalInstancesUsed', 'maxTotalInstances', (n) => n, ''],
  ['CPUs', 'totalCoresUsed', 'maxTotalCores', (n) => n, ''],
  ['Memory', 'totalRAMUsed', 'maxTotalRAMSize', gib, ' GiB'],
  ['Server groups', 'totalServerGroupsUsed', 'maxServerGroups', (n) => n, ''],
];

const DAY_MS = 86_400_000;

async function projectUsage() {
  const start = new Date(Date.now() - 30 * DAY_MS).toISOString().slice(0, 19);
  const { tenant_usages: usages } = await compute('GET', `/os-simple-tenant-usage?start=${start}`);
  return usages;
}

/**
 * The tables of the page: `read` returns the items, `cells` returns the cells of an item's row, and `empty` is the text
 * of a table without items. Only administrators can read tables with `admin`.
 */
const TABLES = {
  images: {
    read: async () => (await compute('GET', '/images/detail')).images,
    empty: 'No images yet',
    cells: ({ name, status, 'OS-EXT-IMG-SIZE:size': size, minDisk, updated, id }) => [
      cell(name || '–'),
      stateCell(status),
      cell(size === undefined ? '–' : `${Math.ceil(size / 2 ** 20)} MiB`),
      cell(minDisk ? `${minDisk} GiB` : '–'),
      cell(dateOf(updated)),
      cell(code(id)),
    ],
  },
  volumes: {
    read: async () => (await compute('GET', '/os-volumes/detail')).volumes,
    empty: 'No volumes yet',
    cells: ({ displayName, status, size, volumeType, attachments, id }) => {
      const uses = attachments.filter(({ serverId }) => serverId);
      return [
        cell(displayName || '–'),
        stateCell(status),
        cell(`${size} GiB`),
        cell(volumeType || '–'),
        cell(
          uses.length > 0 ? uses.map(({ serverId }) => element('a', { href: `#servers/${serverId}` }, serverId)) : '–',
        ),
        cell(code(id)),
      ];
    },
  },
  networks: {
    read: async () => (await compute('GET', '/os-networks')).networks,
    empty: 'No networks yet',
    cells: ({ label, mtu, project_id: project, id }) => [
      cell(label),
      cell(mtu === undefined ? '–' : String(mtu)),
      cell(project || '–'),
      cell(code(id)),
    ],
  },
  hosts: {
    admin: true,
    // Since 2.88, responses lack the hosts' capacity and usage, which are part of the placement API.
    read: async () => (await compute('GET', '/os-hypervisors/detail', undefined, upTo('2.87'))).hypervisors,
    empty: 'No hosts',
    cells: (host) => [
      cell(host.hypervisor_hostname),
      cell([
        chip(host.state, TONES[host.state]),
        ...(host.status === 'disabled' ? [' ', chip('disabled', 'warn')] : []),
      ]),
      cell(String(host.running_vms)),
      load(host.vcpus_used, host.vcpus, '', `CPUs in use on ${host.hypervisor_hostname}`),
      load(gib(host.memory_mb_used), gib(host.memory_mb), ' GiB', `Memory in use on ${host.hypervisor_hostname}`),
      load(host.local_gb_used, host.local_gb, ' GiB', `Disk in use on ${host.hypervisor_hostname}`),
    ],
  },
  limits: {
    read: async () => {
      const { absolute } = (await compute('GET', '/limits')).limits;
      return LIMITS.map(([name, used, max, scaled, unit]) => ({
        id: name,
        unit,
        used: scaled(absolute[used]),
        max: absolute[max] < 0 ? -1 : scaled(absolute[max]),
      }));
    },
    empty: 'No limits',
    cells: ({ id, used, max, unit }) => [cell(id), limit(used, max, unit, `${id} in use`)],
  },
  usage: {
    admin: true,
    read: projectUsage,
    empty: 'No usage',
    cells: ({ tenant_id: project, total_hours: hours, total_vcpus_usage: cpu, total_memory_mb_usage: memory }) => [
      cell(project),
      cell(hours.toFixed(1)),
      cell(cpu.toFixed(1)),
      cell((memory / 1024).toFixed(1)),
    ],
  },
};

/** The tables of each view that has more than one. */
const TABLES_OF_VIEW = { usage: ['limits', 'usage'] };

async function showTable(name) {
  const { read, cells, empty } = TABLES[name];
  const items = await read();
  const columns = byId(name).parentElement.querySelectorAll('thead th').length;
  fill(name, items, { key: (item) => item.id ?? item.tenant_id, columns, empty, cells });
  return items.length;
}

/** Reads the resources of a view, if it shows resources. */
export async function showResources(view, isAdmin) {
  const names = (TABLES_OF_VIEW[view] ?? [view]).filter((name) => TABLES[name] && (isAdmin || !TABLES[name].admin));
  const counts = await Promise.all(names.map(showTable));
  if (TABLES[view] && !TABLES_OF_VIEW[view] && counts.length > 0) showCount(view, counts[0]);
}

/** Reads all resources, for the counts in the links to the views. */
export const showAllResources = (isAdmin) =>
  Promise.all(['images', 'volumes', 'networks', 'hosts'].map((view) => showResources(view, isAdmin)));

/** Returns whether the visitor is an administrator. Only administrators can read hosts. */
export async function canAdminister() {
  try {
    await compute('GET', '/os-hypervisors');
    return true;
  } catch (error) {
    if (error.status === 403) return false;
    throw error;
  }
}
