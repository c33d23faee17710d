// Records the requests of unmodified clients in client-sessions.json; the benchmark `mixed` replays them. The clients
// (command lines, the Python SDK and the dashboard) run one after the other against a test cloud, whose journal
// contains their requests to the compute service. Run this program manually, on a machine with the clients:
// `node bench/record-clients.mjs`.
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCloud } from '@apistrata/test-cloud';
import { openDashboard } from './dashboard-session.mjs';

/** The system's Python, because the distribution installs the packages of the clients for it. */
const PYTHON = '/usr/bin/python3';
const FILE = join(import.meta.dirname, 'client-sessions.json');
const CREATED = 'server create --wait --flavor m1.tiny --image cirros --network private';

const SDK = 'import openstack; cloud = openstack.connect(compute_default_microversion="2.72")';
const wait = () => `${SDK}
server = cloud.compute.find_server("kept")
cloud.compute.stop_server(server)
cloud.compute.wait_for_server(server, status="SHUTOFF", interval=0.5)`;
/** The time that a machine takes to stop while a client waits. */
const STOP_MS = 3000;
/** Reads as declarative tools do: every resource in the tool's state is read again by its id. */
const refresh = (ids) => `${SDK}
server = cloud.compute.get_server("${ids.server}")
list(cloud.compute.server_interfaces(server))
list(cloud.compute.volume_attachments(server))
cloud.compute.get_flavor("1")
cloud.compute.find_keypair("laptop")
list(cloud.compute.server_groups())`;

/**
 * A step that is not recorded: it waits for a state that the next command expects, because the previous command did not
 * wait.
 */
const read = (path, version, until) => ({ method: 'GET', path: `/v2.1${path}`, status: 200, version, until });
const serverIs = (state) => read('/servers/{server}', '2.1', state);
const volumeIs = (state) => read('/os-volumes/{volume}', '2.35', state);

/**
 * The sessions to record, in this order. Each is a command line, a program that uses the SDK, or a page of the
 * dashboard. If a session has `afterwards`, a command that restores the state, only GET requests are recorded.
 */
const sessions = [
  { name: 'command line: list', command: 'server list' },
  { name: 'command line: list long', command: 'server list --long' },
  { name: 'command line: show by name', command: 'server show kept' },
  { name: 'command line: show by id', command: ({ server }) => `server show ${server}` },
  { name: 'command line: flavors', command: 'flavor list' },
  { name: 'command line: key pairs', command: 'keypair list' },
  { name: 'command line: limits', command: 'limits show --absolute' },
  { name: 'command line: actions', command: ({ server }) => `server event list ${server}` },
  { name: 'SDK: wait', program: wait, afterwards: 'server start kept' },
  { name: 'SDK: refresh', program: refresh },
  { name: 'dashboard: overview', page: () => 'project/' },
  { name: 'dashboard: servers', page: () => 'project/instances/' },
  { name: 'dashboard: server', page: ({ server }) => `project/instances/${server}/` },
  { name: 'command line: create', command: `${CREATED} made` },
  { name: 'command line: stop', command: 'server stop kept', waits: serverIs('SHUTOFF') },
  { name: 'command line: start', command: 'server start kept', waits: serverIs('ACTIVE') },
  { name: 'command line: set metadata', command: 'server set --property colour=blue kept' },
  { name: 'command line: attach volume', command: 'server add volume kept disk', waits: volumeIs('in-use') },
  { name: 'command line: detach volume', command: 'server remove volume kept disk', waits: volumeIs('available') },
  { name: 'command line: delete', command: 'server delete --wait made' },
];

const exitOf = (child) =>
  new Promise((resolve, reject) => {
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${child.spawnargs} ended with ${code}`))));
  });

/** Runs a client program as a user of the cloud. Resolves when the program has exited. */
function runClient(program, args, env) {
  return exitOf(
    spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'ignore', 'inherit'] }),
  );
}

/** Replaces ids, names and times of the recorded cloud with the names of values that the replay provides. */
function replacedBy({ created, ...ids }) {
  const values = [...Object.entries(ids), ...(created ? [['server', created]] : [])];
  return (text) =>
    values
      .reduce((done, [name, id]) => done.replaceAll(id, `{${name}}`), text)
      .replaceAll(/(?<=name=|\/servers\/|"name":")(?:kept|made)\b/g, '{name}')
      .replaceAll(/(?<=start=)\d{4}-[\d-]+T[\d:]+/g, '{start}')
      .replaceAll(/(?<=end=)\d{4}-[\d-]+T[\d:]+/g, '{end}');
}

/** Returns the part of a journal entry that is replayed; ids and the project are replaced by their names. */
function requestOf({ method, url, requestHeaders, requestBody, responseBody, status }, named) {
  if (status >= 500) throw new Error(`${method} ${url}: ${status}`);
  const path = url.replace(/^\/compute/, '');
  const version = requestHeaders['openstack-api-version'] ?? requestHeaders['x-openstack-nova-api-version'];
  return JSON.parse(
    named(
      JSON.stringify({
        method,
        path,
        status,
        version: version?.replace('compute ', ''),
        body: requestBody,
        shown: responseBody?.server?.status,
      }),
    ),
  );
}

/**
 * Repeated reads of a server after a change are one step, which is repeated until the server has the state of the last
 * recorded read.
 */
function withoutRepetition(requests, waits) {
  const steps = [];
  let changed = false;
  for (const { shown, ...request } of requests) {
    const former = steps.at(-1);
    changed ||= request.method !== 'GET';
    const same = former?.method === 'GET' && former.path === request.path;
    const state = shown ?? (request.status === 404 ? 'gone' : undefined);
    const step = changed && request.method === 'GET' && state !== undefined ? { ...request, until: state } : request;
    if (same && step.until !== undefined) steps[steps.length - 1] = step;
    else steps.push(step);
  }
  return waits ? [...steps, waits] : steps;
}

const versionOf = (name) =>
  execFileSync(PYTHON, ['-W', 'ignore', '-c', `from importlib.metadata import version; print(version("${name}"))`], {
    encoding: 'utf8',
  }).trim();

const cloud = await startCloud();
const env = cloud.envFor({ user: 'demo', project: 'demo' });
const openstack = (...args) => runClient('openstack', args, env);
await openstack('keypair', 'create', 'laptop');
await openstack(...CREATED.split(' '), 'kept');
await openstack('volume', 'create', '--size', '1', 'disk');
await cloud.idle();
const idIn = (pattern, read) =>
  read(cloud.requests().findLast(({ method, url }) => method === 'POST' && pattern.test(url)));
const ids = {
  server: idIn(/\/servers$/, ({ responseBody }) => responseBody.server.id),
  image: idIn(/\/servers$/, ({ requestBody }) => requestBody.server.imageRef),
  network: idIn(/\/servers$/, ({ requestBody }) => requestBody.server.networks[0].uuid),
  volume: idIn(/\/volumes$/, ({ responseBody }) => responseBody.volume.id),
  project: idIn(/\/volumes$/, ({ url }) => /v3\/([0-9a-f]{32})\//.exec(url)[1]),
};
cloud.rules.machine({ match: { action: 'os-stop' }, times: 1, delayMs: STOP_MS });
const dashboard = await openDashboard(cloud.env.OS_AUTH_URL, env);
const recorded = {};
try {
  for (const { name, command, program, page, waits, afterwards } of sessions) {
    const after = cloud.requests().at(-1)?.number;
    if (command) await openstack(...(typeof command === 'string' ? command : command(ids)).split(' '));
    if (program) await runClient(PYTHON, ['-W', 'ignore', '-c', program(ids)], env);
    if (page) await dashboard.open(page(ids));
    await cloud.idle();
    const entries = cloud
      .requests({ service: 'compute', after })
      .filter(({ method }) => !afterwards || method === 'GET');
    if (afterwards) await openstack(...afterwards.split(' '));
    // The server that a command creates, and later deletes.
    const created = entries.find(({ method, url }) => method === 'POST' && /\/servers$/.test(url));
    if (created) ids.created = created.responseBody.server.id;
    const named = replacedBy(ids);
    recorded[name] = withoutRepetition(
      entries.map((entry) => requestOf(entry, named)),
      waits,
    );
    console.log(name, recorded[name].length);
  }
} finally {
  await dashboard.close();
  await cloud.stop();
}
const clients = ['python-openstackclient', 'openstacksdk', 'horizon'].map((name) => `${name} ${versionOf(name)}`);
const source = `Recorded on ${new Date().toISOString().slice(0, 10)} by bench/record-clients.mjs from the journal of a test cloud: ${clients.join(', ')}.`;
writeFileSync(FILE, `${JSON.stringify({ source, sessions: recorded }, undefined, 2)}\n`);
