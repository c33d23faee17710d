// The same requests under each supported Node release line, alternately: the API's CPU time for one request, compared
// with Node 24. The API uses a SQLite file with Node's driver; the SQLite store of quotas is also measured with
// better-sqlite3.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeOf } from '../testing/release/tools.mjs';
import { load } from './load.mjs';
import { quotaProcess } from './nodes-quota.mjs';
import { processTime } from './process-time.mjs';
import { interleaved } from './samples.mjs';
import { HEADERS, idOf, startServer } from './server-process.mjs';

const FULL = { servers: 2000, rounds: 11, requests: 500, creates: 150, reservations: 3000 };
const QUICK = { servers: 1000, rounds: 5, requests: 200, creates: 100, reservations: 1000 };
const BASELINE = 24;
const OTHERS = [22, 26];
const CONNECTIONS = 8;
const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const BODY = JSON.stringify({ server: { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none' } });

/** Returns the functions that measure the CPU time of a request in milliseconds, by request name. */
function measurementsOf({ requests, creates }) {
  const read = (path) => async (server) => {
    const before = processTime(server.pid);
    await load(`${server.url}/v2.1${path}`, { amount: requests, connections: CONNECTIONS, headers: HEADERS });
    return (processTime(server.pid) - before) / requests;
  };
  return {
    'GET /flavors/{id}': read('/flavors/1'),
    'GET /limits': read('/limits'),
    'GET /servers/{id}': read(`/servers/${idOf(7)}`),
    'GET /servers/detail?limit=100': read('/servers/detail?limit=100'),
    'POST /servers until ACTIVE': async (server) => {
      const before = processTime(server.pid);
      const options = { method: 'POST', body: BODY, headers: HEADERS, connections: CONNECTIONS, amount: creates };
      await load(`${server.url}/v2.1/servers`, options);
      await server.get('/idle');
      return (processTime(server.pid) - before) / creates;
    },
  };
}

/** Starts the API with one Node version on a new database that contains servers. */
async function open(folder, major, { servers }) {
  const server = await startServer(join(folder, `node-${major}.db`), {}, await nodeOf(major));
  await server.populate({ count: servers, owners: [{ projectId: 'demo', userId: 'admin' }] });
  return server;
}

/** Measures each request under all Node versions alternately. */
async function measureRequests(folder, amounts) {
  const majors = [BASELINE, ...OTHERS];
  const opened = [];
  try {
    for (const major of majors) opened.push(await open(folder, major, amounts));
    const rows = [];
    for (const [what, send] of Object.entries(measurementsOf(amounts))) {
      const measures = opened.map((server) => () => send(server));
      // Two warm-up rounds for the JIT compiler.
      await interleaved(2, ...measures);
      const [baseline, ...samples] = await interleaved(amounts.rounds, ...measures);
      for (const [index, major] of OTHERS.entries())
        rows.push({
          what: `${what}, Node ${major} and Node ${BASELINE}`,
          ours: samples[index],
          baseline,
          unit: 'ms of CPU',
        });
    }
    return rows;
  } finally {
    for (const server of opened) await server.stop();
  }
}

/** Measures reservations with both drivers under each Node version alternately. */
async function measureQuotas({ rounds, reservations }) {
  const rows = [];
  for (const major of [22, 24, 26]) {
    const what = `reserve and commit on a SQLite file, node:sqlite and better-sqlite3, Node ${major}`;
    const quota = await quotaProcess(await nodeOf(major));
    if (quota.missing) {
      rows.push({ what, unit: `skipped: ${quota.missing}` });
    } else {
      const measures = ['node:sqlite', 'better-sqlite3'].map((driver) => () => quota.measure(driver, reservations));
      await interleaved(1, ...measures);
      const [ours, baseline] = await interleaved(rounds, ...measures);
      rows.push({ what, ours, baseline, unit: 'us of CPU' });
    }
    await quota.stop();
  }
  return rows;
}

export async function run({ quick }) {
  const amounts = quick ? QUICK : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-nodes-'));
  try {
    return [...(await measureRequests(folder, amounts)), ...(await measureQuotas(amounts))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
