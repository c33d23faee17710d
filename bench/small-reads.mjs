// Small reads that are sent again and again: CPU time of the server process for one request, compared with a bare
// Express route of the same server with the same log, the same authentication, the same headers and the same body. SQLite file.
// BENCH_PROFILE=FOLDER also writes a profile of each (of node --cpu-prof's format).
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect, inspectorPort } from './inspector.mjs';
import { load } from './load.mjs';
import { interleaved } from './samples.mjs';
import { HEADERS } from './server-process.mjs';

const FULL = { rounds: 15, requests: 2000, warm: 5000, profileMs: 30_000 };
const QUICK = { rounds: 5, requests: 500, warm: 1500, profileMs: 1000 };
const CONNECTIONS = 8;
const BUDGET = '<= 1.2 x';
const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGqt2M9JbCPRDVnbHAl7SMUhMHKsLgG7o6x7ZMCI1Mhe ada@example';

/** Starts the server; its log is discarded. */
async function start(database, flags) {
  const child = fork(join(import.meta.dirname, 'small-reads.worker.mjs'), [database], {
    execArgv: flags,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [{ url }] = await once(child, 'message');
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

/** Creates what the requests read, and returns the paths. */
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

export async function run({ quick }) {
  const { rounds, requests, warm, profileMs } = quick ? QUICK : FULL;
  const profiles = process.env.BENCH_PROFILE;
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-small-reads-'));
  const { port, flags } = profiles ? await inspectorPort() : {};
  const server = await start(join(folder, 'servers.db'), flags);
  const sendRequest = (url, amount) => load(url, { amount, connections: CONNECTIONS, headers: HEADERS });
  /** Milliseconds of CPU time of one request. */
  const cost = async (url) => {
    const before = await server.usedMs();
    await sendRequest(url, requests);
    return ((await server.usedMs()) - before) / requests;
  };
  const inspector = profiles && (await inspect(port));
  /** Writes a profile of a load. */
  const profile = async (name, url) => {
    const until = performance.now() + profileMs;
    const found = await inspector.profile(async () => {
      while (performance.now() < until) await sendRequest(url, requests);
    });
    writeFileSync(join(profiles, `${name.replaceAll(/\W+/g, '-')}.cpuprofile`), JSON.stringify(found));
  };
  try {
    const rows = [];
    const paths = Object.entries(await pathsOf(server.url));
    const responses = [];
    for (const [, path] of paths) responses.push(await send(server.url, path));
    await server.prepare(responses);
    for (const [index, [name, path]] of paths.entries()) {
      const urls = [`${server.url}/v2.1${path}`, `${server.url}/bare/${index}`];
      for (const url of urls) await sendRequest(url, warm);
      const [ours, baseline] = await interleaved(rounds, ...urls.map((url) => () => cost(url)));
      rows.push({ what: `GET ${name}, and a bare route`, ours, baseline, unit: 'ms of CPU', budget: BUDGET });
      if (!inspector) continue;
      await profile(name, urls[0]);
      await profile(`${name} bare`, urls[1]);
    }
    return rows;
  } finally {
    if (inspector) inspector.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
