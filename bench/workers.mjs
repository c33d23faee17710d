// The cost of several workers of the reference server compared with one: CPU time of all of them, for one request
// and for one create until ACTIVE, on PostgreSQL. The work is the same, so more processes should not need more time.
//
// Requests arrive one by one, at a rate below saturation, so that each is handled alone: concurrent requests share
// reads and transactions, which makes each cheaper, and more so in one process than in several. Concurrent creates are
// measured separately, with the same number of clients per worker.
//
// Processes that alternate on a processor find its caches cold. This effect is measured separately: with a bare Express
// route, and with one worker that receives the request rate that each of four workers receives.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { largeHosts } from './large-hosts.mjs';
import { load } from './load.mjs';
import { sendAtRate } from './paced.mjs';
import { processTime } from './process-time.mjs';
import { freshDatabase, startReferenceServer, writePreset } from './reference-process.mjs';
import { interleaved } from './samples.mjs';
import { HEADERS } from './server-process.mjs';
import { durablePostgres } from './test-servers.mjs';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const BODY = JSON.stringify({ server: { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none' } });
const BARE = join(import.meta.dirname, 'bare-workers.worker.mjs');
const WORKERS = [1, 2, 4];
/** Why several workers may miss the budget; the rows of the bare route show the cause. */
const REASON = 'processes that alternate on a processor find its caches cold; a bare route also costs more';
/** The number of clients per worker when requests are sent without a fixed rate. */
const CLIENTS = 8;
const FULL = { requests: 600, creates: 120, rounds: 5, warm: 3000, warmCreates: 800, idleMs: 2000, idleRounds: 3 };
const QUICK = { requests: 50, creates: 10, rounds: 2, warm: 50, warmCreates: 10, idleMs: 200, idleRounds: 2 };

const read = { what: 'GET /flavors/{id}', path: '/v2.1/flavors/1', kind: 'requests', warmth: 'warm', rate: 400 };
const create = {
  what: 'POST /servers until ACTIVE',
  path: '/v2.1/servers',
  kind: 'creates',
  warmth: 'warmCreates',
  rate: 50,
  request: { method: 'POST', body: BODY },
};
const readSamples = [
  read,
  create,
  { ...create, what: `${create.what}, ${CLIENTS} clients for each worker`, rate: undefined },
];

/** Starts a bare route that sends a number of bytes, served by a number of workers. */
async function startBare(bytes, workers) {
  const child = fork(BARE, [String(workers), String(bytes)]);
  const [{ url }] = await once(child, 'message');
  return {
    url,
    workers,
    cpuMs: () => processTime(child.pid),
    idle: () => undefined,
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

/** Starts the reference server with a number of workers. */
async function start({ url: database, client }, workers, preset) {
  const args = ['--workers', String(workers), '--preset', preset, '--log-level', 'warn'];
  const { stop, ...server } = await startReferenceServer(database, args);
  return {
    ...server,
    workers,
    /** Resolves when no job remains. */
    idle: async () => {
      const left = async () => Number((await client.query('select count(*) as jobs from jobs')).rows[0].jobs);
      while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    /** @throws Error if the creation of a server has failed, because the result would be meaningless */
    check: async () => {
      const { rows } = await client.query("select count(*) as failed from servers where vm_state <> 'active'");
      if (Number(rows[0].failed) > 0) throw new Error('not every server became ACTIVE');
    },
    stop: async () => {
      await stop();
      await client.end();
    },
  };
}

/** Sends requests one by one at the given rate or, without a rate, as fast as the clients can. */
async function sendRequests(server, { path, rate, request }, amount) {
  const url = server.url + path;
  const options = { headers: HEADERS, ...request, amount };
  if (rate) await sendAtRate(url, { ...options, rate });
  else await load(url, { ...options, connections: CLIENTS * server.workers });
  await server.idle();
}

/** Returns the CPU time of one request in milliseconds. */
async function cpuTimePerRequest(server, sample, amount) {
  const before = server.cpuMs();
  await sendRequests(server, sample, amount);
  return (server.cpuMs() - before) / amount;
}

/** Returns the CPU time that each worker uses per second without requests, in milliseconds. */
async function idleCost(server, idleMs) {
  const before = server.cpuMs();
  await new Promise((resolve) => setTimeout(resolve, idleMs));
  return (server.cpuMs() - before) / (idleMs / 1000) / server.workers;
}

export async function run({ quick }) {
  const amounts = quick ? QUICK : FULL;
  const postgres = await durablePostgres();
  if (!postgres) return [{ what: 'workers on PostgreSQL', unit: 'skipped: this machine has no PostgreSQL' }];
  const rows = [postgres.settings];
  const servers = [];
  const bare = [];
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-bench-'));
  try {
    const preset = writePreset(folder, largeHosts);
    for (const workers of WORKERS)
      servers.push(await start(await freshDatabase(postgres.url, `workers_${workers}`), workers, preset));
    const response = await fetch(servers[0].url + read.path, { headers: HEADERS });
    const { byteLength } = await response.arrayBuffer();
    for (const workers of WORKERS) bare.push(await startBare(byteLength, workers));
    const add = (what, unit, samples, budget) => {
      const [baseline] = samples;
      for (const [index, ours] of samples.entries()) {
        const many = `${WORKERS[index]} ${index === 0 ? 'worker' : 'workers'}`;
        const row = { what: `${what}, ${many}, and one`, ours, baseline, unit };
        rows.push(index > 0 ? { ...row, budget, reason: REASON } : row);
      }
    };
    const measure = async (offeredRate, sample, budget) => {
      const { what, kind, warmth, rate } = sample;
      // Each worker of a larger group must be as warm as a worker that runs alone.
      for (const server of offeredRate)
        await sendRequests(server, { ...sample, rate: undefined }, amounts[warmth] * server.workers);
      const measures = offeredRate.map((server) => {
        const amount = rate ? amounts[kind] : amounts[kind] * server.workers;
        return () => cpuTimePerRequest(server, sample, amount);
      });
      add(what, 'ms of CPU', await interleaved(amounts.rounds, ...measures), budget);
    };
    for (const sample of readSamples) await measure(servers, sample, '<= 1.1 x');
    await measure(bare, { ...read, what: 'a bare route', path: '/bare' });
    const [one] = servers;
    for (const sample of [read, create]) {
      const rates = [sample.rate / 4, sample.rate].map((rate) => ({ ...sample, rate }));
      const measures = rates.map((offeredRate) => () => cpuTimePerRequest(one, offeredRate, amounts[sample.kind] / 2));
      const [seldom, often] = await interleaved(amounts.rounds, ...measures);
      rows.push({
        what: `${sample.what}, 1 worker at a quarter of the rate, and at all of it`,
        ours: seldom,
        baseline: often,
        unit: 'ms of CPU',
      });
    }
    const idleMeasures = servers.map((server) => () => idleCost(server, amounts.idleMs));
    const idle = await interleaved(amounts.idleRounds, ...idleMeasures);
    add('a second without requests, each worker', 'ms of CPU', idle);
    for (const server of servers) await server.check();
    return rows;
  } finally {
    for (const server of [...servers, ...bare]) await server.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
