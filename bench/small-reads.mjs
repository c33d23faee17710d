// Small reads that are sent repeatedly: CPU time of the server process for one request, compared with a bare
// Express route of the same server with the same log, the same authentication, the same headers and the same body.
// Measured alternately on a SQLite file and on PostgreSQL. BENCH_PROFILE=FOLDER also writes a profile of each read on
// SQLite, in the format of node --cpu-prof.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect, inspectorPort } from './inspector.mjs';
import { load } from './load.mjs';
import { processTime } from './process-time.mjs';
import { interleaved } from './samples.mjs';
import { HEADERS } from './server-process.mjs';
import { durablePostgres } from './test-servers.mjs';

const FULL = { rounds: 15, requests: 2000, warm: 5000, profileMs: 30_000 };
const QUICK = { rounds: 5, requests: 500, warm: 1500, profileMs: 1000 };
const CONNECTIONS = 8;
const BUDGET = '<= 1.2 x';
/** Why reads miss the budget, by whether the database is a separate process. */
const REASONS = {
  false: 'a query for each request, because other processes may have changed the data; negotiation and validation',
  true: 'each query is a round trip to PostgreSQL, which costs about as much as the bare route',
};
const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGqt2M9JbCPRDVnbHAl7SMUhMHKsLgG7o6x7ZMCI1Mhe ada@example';

/** Starts the server; its log is discarded. */
async function start(database, flags) {
  const child = fork(join(import.meta.dirname, 'small-reads.worker.mjs'), [database], {
    execArgv: flags,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const url = await new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message.url));
    child.once('exit', (code) => reject(new Error(`the server exited with code ${code}`)));
  });
  return {
    url,
    usedMs: async () => (await fetch(`${url}/usage`)).json(),
    prepare: async (responses) => {
      child.send(responses);
      await once(child, 'message');
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

/** Headers that Node writes itself. */
const OF_NODE = new Set(['connection', 'date', 'keep-alive', 'content-length']);

/** Sends a request; returns the headers and the body of the response. */
async function send(url, path, body) {
  const options = body && { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(`${url}/v2.1${path}`, { headers: HEADERS, ...options });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${text}`);
  return { headers: Object.fromEntries([...response.headers].filter(([name]) => !OF_NODE.has(name))), body: text };
}

/** Creates the resources that the requests read, and returns the paths. */
async function pathsOf(url) {
  const keypair = { name: 'laptop', public_key: KEY, type: 'ssh' };
  await send(url, '/os-keypairs', { keypair });
  const created = await send(url, '/servers', {
    server: { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none' },
  });
  const { id } = JSON.parse(created.body).server;
  while (!(await send(url, `/servers/${id}`)).body.includes('"ACTIVE"'));
  return {
    '/flavors': '/flavors',
    '/flavors/{id}': '/flavors/1',
    '/limits': '/limits',
    '/os-keypairs': '/os-keypairs',
    '/servers/{id}/os-instance-actions': `/servers/${id}/os-instance-actions`,
  };
}

/** Starts the server on a database, and prepares its bare routes. Returns the server and its paths by name. */
async function open(kind, database, { flags, pid } = {}) {
  const server = await start(database, flags);
  const paths = Object.entries(await pathsOf(server.url));
  const responses = [];
  for (const [, path] of paths) responses.push(await send(server.url, path));
  await server.prepare(responses);
  return { kind, server, paths, pid };
}

/** Returns the CPU time of one request in milliseconds: of the server, and of its database process if there is one. */
async function cpuTimePerRequest({ server, pid }, url, requests) {
  const time = async () => ({ server: await server.usedMs(), database: pid === undefined ? 0 : processTime(pid) });
  const before = await time();
  await sendRequests(url, requests);
  const after = await time();
  return {
    server: (after.server - before.server) / requests,
    database: (after.database - before.database) / requests,
  };
}

const sendRequests = (url, amount) => load(url, { amount, connections: CONNECTIONS, headers: HEADERS });

/** Measures one read and its bare route on all databases alternately. */
async function measure(opened, index, { rounds, requests, warm }) {
  const measures = opened.flatMap((each) => {
    const { server, paths } = each;
    return [`${server.url}/v2.1${paths[index][1]}`, `${server.url}/bare/${index}`].map((url) => ({ each, url }));
  });
  for (const { url } of measures) await sendRequests(url, warm);
  const samples = await interleaved(
    rounds,
    ...measures.map(
      ({ each, url }) =>
        () =>
          cpuTimePerRequest(each, url, requests),
    ),
  );
  return opened.flatMap(({ kind, paths, pid }, at) => {
    const [ours, bare] = samples.slice(2 * at, 2 * at + 2);
    const what = `GET ${paths[index][0]}${kind}`;
    const time = (list) => list.map(({ server }) => server);
    const row = {
      what: `${what}, and a bare route`,
      ours: time(ours),
      baseline: time(bare),
      unit: 'ms of CPU',
      budget: BUDGET,
      reason: REASONS[pid !== undefined],
    };
    if (pid === undefined) return [row];
    return [row, { what: `${what}: the database`, ours: ours.map(({ database }) => database), unit: 'ms of CPU' }];
  });
}

/** Writes a CPU profile of each read request, and of the bare Express route with which the request is compared. */
async function writeProfiles(folder, { server, paths }, port, { profileMs, requests }) {
  const inspector = await inspect(port);
  const profile = async (name, url) => {
    const until = performance.now() + profileMs;
    const found = await inspector.profile(async () => {
      while (performance.now() < until) await sendRequests(url, requests);
    });
    writeFileSync(join(folder, `${name.replaceAll(/\W+/g, '-')}.cpuprofile`), JSON.stringify(found));
  };
  try {
    for (const [index, [name, path]] of paths.entries()) {
      await profile(name, `${server.url}/v2.1${path}`);
      await profile(`${name} bare`, `${server.url}/bare/${index}`);
    }
  } finally {
    inspector.close();
  }
}

export async function run({ quick }) {
  const amounts = quick ? QUICK : FULL;
  const profiles = process.env.BENCH_PROFILE;
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-small-reads-'));
  const { port, flags } = profiles ? await inspectorPort() : {};
  const postgres = await durablePostgres();
  const opened = [];
  try {
    opened.push(await open('', join(folder, 'servers.db'), { flags }));
    if (postgres) opened.push(await open(', PostgreSQL', postgres.url, { pid: postgres.pid }));
    const rows = postgres
      ? [postgres.settings]
      : [{ what: 'small reads on PostgreSQL', unit: 'skipped: this machine has no PostgreSQL' }];
    for (const index of opened[0].paths.keys()) rows.push(...(await measure(opened, index, amounts)));
    if (profiles) await writeProfiles(profiles, opened[0], port, amounts);
    return rows;
  } finally {
    for (const { server } of opened) await server.stop();
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
