import { createHash } from 'node:crypto';
import { openTables, renamed } from './copy-records.mjs';
import { HEADERS, idOf, startServer } from './server-process.mjs';

const PER_PROJECT = 100;
const HOSTS = 100;
const AGGREGATES = 10;
/** The number of actions in the history of one server, and of key pairs of one user. */
const MANY = 1000;

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGqt2M9JbCPRDVnbHAl7SMUhMHKsLgG7o6x7ZMCI1Mhe ada@example';

/** The hosts of the cloud. */
export const hosts = Array.from({ length: HOSTS }, (_, i) => ({
  name: `host${i}`,
  vcpus: 100_000,
  memoryMb: 2 ** 30,
  diskGb: 2 ** 30,
}));

const NAMES = {
  host: 'host1',
  anyPart: 'ost1',
  project: 'p1',
  user: 'user-of-p1',
  image: IMAGE,
  keypair: 'sample',
  colour: 'colour',
  tag: 'red',
  networkLabel: 'private',
  auditTime: '2026-01-01 00:00:00',
  apiVersion: 'v2.1',
  extension: 'os-keypairs',
  quotaClass: 'default',
};

const randomIndex = (count) => Math.floor(Math.random() * count);

/** Returns the UUID of a copy: the same for the same kind and number. */
function uuidOf(kind, number) {
  const hex = createHash('sha256').update(`${kind} ${number}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Sends a request of the administrator; returns the body of the response. */
async function send(server, method, path, body, version = '2.35') {
  const response = await fetch(`${server.url}/v2.1${path}`, {
    method,
    headers: { ...HEADERS, 'OpenStack-API-Version': `compute ${version}` },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  await server.get('/idle');
  return text && response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined;
}

/** Creates one of each resource that operations show, and returns the values of their path parameters. */
async function createSamples(server) {
  const post = (path, body, version) => send(server, 'POST', path, body, version);
  const boot = async (fields) =>
    (await post('/servers', { server: { name: 'sample', flavorRef: '1', imageRef: IMAGE, ...fields } }, '2.52')).server
      .id;
  await post('/os-keypairs', { keypair: { name: 'sample', public_key: KEY } });
  const specs = { name: 'sample', ram: 64, vcpus: 1, disk: 1, 'os-flavor-access:is_public': false };
  const { flavor } = await post('/flavors', { flavor: specs });
  await post(`/flavors/${flavor.id}/os-extra_specs`, { extra_specs: { colour: 'blue' } });
  await post(`/flavors/${flavor.id}/action`, { addTenantAccess: { tenant: 'p0' } });
  await post(`/images/${IMAGE}/metadata`, { metadata: { colour: 'blue' } });
  const { server_group: group } = await post('/os-server-groups', {
    server_group: { name: 'sample', policies: ['anti-affinity'] },
  });
  const { networks } = await send(server, 'GET', '/os-networks');
  const network = networks.find(({ label }) => label === 'private') ?? networks[0];
  const connected = await boot({
    networks: [{ uuid: network.id }],
    metadata: { colour: 'blue' },
    tags: ['red'],
    key_name: 'sample',
  });
  const { volume } = await post('/os-volumes', { volume: { size: 1 } });
  const { snapshot } = await post('/os-snapshots', { snapshot: { volume_id: volume.id } });
  await post(`/servers/${connected}/os-volume_attachments`, { volumeAttachment: { volumeId: volume.id } });
  const { floating_ip: floating } = await post('/os-floating-ips', { pool: 'public' });
  await post(`/servers/${connected}/action`, { addFloatingIp: { address: floating.ip } });
  const { security_group: security } = await post('/os-security-groups', {
    security_group: { name: 'sample', description: '' },
  });
  const console = { remote_console: { protocol: 'vnc', type: 'novnc' } };
  const { remote_console: opened } = await post(`/servers/${connected}/remote-consoles`, console, '2.52');
  const moved = await boot({ networks: 'none' });
  await post(`/servers/${moved}/action`, { migrate: null }, '2.52');
  await post(`/servers/${moved}/action`, { confirmResize: null }, '2.52');
  for (let index = 0; index < AGGREGATES; index++) {
    const { aggregate } = await post('/os-aggregates', { aggregate: { name: `aggregate${index}` } });
    for (let host = index; host < HOSTS; host += AGGREGATES)
      await post(`/os-aggregates/${aggregate.id}/action`, { add_host: { host: `host${host}` } });
  }
  await send(server, 'PUT', '/os-quota-sets/demo', { quota_set: { cores: -1 } });
  const get = (path, version) => send(server, 'GET', path, undefined, version);
  const { interfaceAttachments: ports } = await get(`/servers/${connected}/os-interface`);
  const shown = (await get(`/servers/${connected}`)).server;
  const { instanceActions: actions } = await get(`/servers/${connected}/os-instance-actions`);
  const { migrations } = await get('/os-migrations', '2.58');
  const { hypervisors } = await get('/os-hypervisors', '2.96');
  const { aggregates } = await get('/os-aggregates');
  return {
    connected,
    moved,
    group: group.id,
    flavor: flavor.id,
    volume: volume.id,
    snapshot: snapshot.id,
    port: ports[0].port_id,
    address: shown.addresses.private[0].addr,
    floating: floating.id,
    hostOfAddress: shown['OS-EXT-SRV-ATTR:host'],
    security: security.id,
    network: network.id,
    token: /token(?:=|%3D)([0-9a-f-]{36})$/.exec(opened.url)[1],
    action: actions[0].request_id,
    migration: migrations[0].uuid,
    hypervisor: hypervisors[0].id,
    aggregate: aggregates[0].id,
  };
}

/**
 * Copies the sample resources (actions, migrations, volumes, ports and others) for the other servers and their
 * projects. Each project has 100 servers.
 */
async function fill(database, count, samples, options) {
  const tables = await openTables(database);
  const first = async (table, is) => (await tables.rows(table)).find(is);
  const copy = async (table, is, number, namesOf) => {
    const row = await first(table, is);
    const rows = Array.from({ length: number }, (_, index) => renamed(row, namesOf(index, row)));
    await tables.insert(table, rows);
  };
  const projects = Math.max(1, count / PER_PROJECT);
  const owner = (index) => ({ demo: `p${index % projects}`, admin: `user-of-p${index % projects}` });
  const ofSample = ({ server_id: server }) => server === samples.connected;
  const request = (index) => ({ [samples.action]: `req-${uuidOf('request', index)}` });
  const copied = (table, number, namesOf = owner) =>
    copy(
      table,
      () => true,
      number,
      (index, { id }) => ({ ...namesOf(index), [id]: uuidOf(table, index) }),
    );
  const isFirst = (action) => ofSample(action) && action.request_id === samples.action;
  await copy('instance_actions', isFirst, MANY, (index) => request(count + index));
  await copy('instance_actions', isFirst, count, (index) => ({
    ...owner(index),
    ...request(index),
    [samples.connected]: idOf(index),
  }));
  await copied('migrations', count / 10, (index) => ({ ...owner(index), [samples.moved]: idOf(index * 10) }));
  await copied('server_groups', projects);
  await copied('volumes', count / 10);
  await copied('snapshots', count / 100);
  await copied('security_groups', projects);
  const isPort = ({ id }) => id === samples.port;
  await copy('ports', isPort, count, (index, { mac }) => ({
    ...owner(index),
    [samples.port]: uuidOf('port', index),
    [samples.connected]: idOf(index),
    [mac]: `fa:16:3f:${(index + 2 ** 24)
      .toString(16)
      .slice(1)
      .replace(/(..)(..)(..)/, '$1:$2:$3')}`,
    [samples.address]: `10.${100 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`,
  }));
  await copy(
    'quota_sets',
    () => true,
    projects,
    (index) => ({ demo: `p${index}` }),
  );
  await copy(
    'keypairs',
    () => true,
    MANY,
    (index) => ({ sample: `sample${index}` }),
  );
  await copy(
    'keypairs',
    () => true,
    projects,
    (index) => ({ admin: `user-of-p${index}` }),
  );
  await copy(
    'flavors',
    ({ id }) => id === samples.flavor,
    MANY,
    (index) => ({
      [samples.flavor]: uuidOf('flavor', index),
      sample: `sample${index}`,
    }),
  );
  // One server group contains ten servers of the project `p0`.
  const [{ id: group }] = (await tables.rows('server_groups')).slice(1);
  await tables.execute(`update servers set group_id = '${group}' where project_id = 'p0' and seq % 10 = 0`);
  await tables.close(options);
}

/**
 * Starts an API process with a number of servers on 100 hosts, in projects of 100 servers, and with a proportional
 * number of ports, actions, migrations, volumes, groups and key pairs.
 *
 * @param options.statistics whether PostgreSQL collects planner statistics; SQLite never does
 */
export async function startOperationCloud(database, count, { statistics = true } = {}) {
  const owners = Array.from({ length: Math.max(1, count / PER_PROJECT) }, (_, n) => ({
    projectId: `p${n}`,
    userId: `user-of-p${n}`,
  }));
  const first = await startServer(database, { hosts });
  const samples = await createSamples(first);
  await first.populate({ count, owners, flavorId: '1', imageId: IMAGE });
  await first.stop();
  await fill(database, count, samples, { statistics });
  const server = await startServer(database, { hosts });
  const values = { ...samples, ...NAMES };
  return {
    server,
    /** Returns the value of a parameter; `anyServer` is another server every time. */
    parameter: (name) => {
      if (name === 'anyServer') return idOf(randomIndex(count));
      if (!(name in values)) throw new Error(`the samples have no ${name}`);
      return values[name];
    },
  };
}
