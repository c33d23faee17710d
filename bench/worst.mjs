// The latency of `GET /flavors` while 16 clients send the most expensive queries, compared with a bare route of the
// same process at the same time. The difference is the cost of our code; the rest is time spent waiting for a busy
// thread.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quantile } from './mixed-measure.mjs';
import { HEADERS, startServer } from './server-process.mjs';
import { durablePostgres } from './test-servers.mjs';

const FULL = { servers: 20_000, rounds: 5, seconds: 2 };
const QUICK = { servers: 500, rounds: 2, seconds: 1 };
const CLIENTS = 16;

/** No resource matches, so that all candidates are searched. */
const paths = [
  '/servers/detail?all_tenants=1&ip=203.0.113.99',
  '/servers/detail?all_tenants=1&name=absent.example',
  '/servers/detail?all_tenants=1&key_name=absent',
  '/servers/detail?all_tenants=1&tags=absent',
  '/servers/detail?all_tenants=1&node=absent',
  '/servers/detail?all_tenants=1&sort_key=task_state&limit=100',
  '/servers/detail?all_tenants=1&changes-since=2001-01-01T00:00:00Z&deleted=1',
  '/servers/detail?all_tenants=1&limit=1000',
];

async function sendRequest(url) {
  const response = await fetch(url, { headers: HEADERS });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${text}`);
}

/** Returns the sorted latencies of our route and of the bare route, measured alternately for a number of seconds. */
async function measureLatencies(url, seconds) {
  const latencies = { '/v2.1/flavors': [], '/bare/0': [] };
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    for (const [path, times] of Object.entries(latencies)) {
      const begun = performance.now();
      await sendRequest(url + path);
      times.push(performance.now() - begun);
    }
  }
  return Object.values(latencies).map((times) => times.sort((a, b) => a - b));
}

async function measure(kind, database, { servers, rounds, seconds }) {
  const server = await startServer(database);
  try {
    const owners = Array.from({ length: servers / 100 }, (_, n) => ({ projectId: `p${n}`, userId: `user-of-p${n}` }));
    await server.populate({ count: servers, owners });
    await server.prepare(['/v2.1/flavors']);
    let ended = false;
    let response = 0;
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let n = client; !ended; n++) {
        await sendRequest(`${server.url}/v2.1${paths[n % paths.length]}`);
        response++;
      }
    });
    const found = { ours: { 0.5: [], 0.99: [] }, baseline: { 0.5: [], 0.99: [] }, checks: [] };
    for (let round = 0; round < rounds; round++) {
      const before = response;
      const [ours, bare] = await measureLatencies(server.url, seconds);
      for (const part of [0.5, 0.99]) {
        found.ours[part].push(quantile(ours, part));
        found.baseline[part].push(quantile(bare, part));
      }
      found.checks.push((response - before) / seconds);
    }
    ended = true;
    await Promise.all(clients);
    const row = (what, part, budget) => {
      const samples = { ours: found.ours[part], baseline: found.baseline[part] };
      return { what: `${kind}: ${what}`, ...samples, unit: 'ms', budget };
    };
    return [
      row('GET /flavors, median', 0.5),
      row('GET /flavors, p99', 0.99, '<= 25 ms'),
      { what: `${kind}: the most expensive queries, all clients`, ours: found.checks, unit: 'responses/s' },
    ];
  } finally {
    await server.stop();
  }
}

export async function run({ quick }) {
  const amounts = quick ? QUICK : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-worst-'));
  const postgres = await durablePostgres();
  try {
    const rows = await measure('SQLite file', join(folder, 'servers.db'), amounts);
    return postgres ? [...rows, postgres.settings, ...(await measure('PostgreSQL', postgres.url, amounts))] : rows;
  } finally {
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
