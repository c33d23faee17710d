// The cost of responses that have never been requested before, and of small responses that are requested repeatedly:
// CPU time of the server process on a SQLite file with one client, compared with a bare route whose response has the
// same size. Bare routes are served by Express's own `listen()`; the last row shows the cost of a bare route in the
// reference server.
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interleaved } from './samples.mjs';
import { HEADERS, idOf, startServer } from './server-process.mjs';

const FULL = { servers: 100_000, rounds: 9, requests: 120 };
const QUICK = { servers: 1_000, rounds: 2, requests: 20 };
const PER_PROJECT = 100;

const randomIndex = (count) => Math.floor(Math.random() * count);

/** Returns the reads to measure. The budgets apply to a machine on which a bare route takes 0.23 ms. */
function readsToMeasure(servers) {
  const again = ['/flavors', '/flavors/1', '/limits', '/os-keypairs', '/os-availability-zone', '/servers?limit=1'];
  return [
    {
      what: 'GET /servers/detail?limit=100 of any project',
      path: () => `/servers/detail?limit=100&all_tenants=1&project_id=p${randomIndex(servers / PER_PROJECT)}`,
      budget: '<= 4 ms',
      reason: 'reads, decodes and writes 100 servers that are not cached',
    },
    { what: 'GET /servers/{id}, any', path: () => `/servers/${idOf(randomIndex(servers))}`, budget: '<= 0.6 ms' },
    ...again.map((path) => ({
      what: `GET ${path}, again`,
      path: () => path,
      budget: '<= bare + 0.12 ms',
      reason: 'negotiation, validation, policy, and a query because other processes may have changed the data',
    })),
  ];
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function get(url) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: HEADERS, agent }, (res) => {
      res.on('data', () => {});
      res.on('end', () => (res.statusCode === 200 ? resolve() : reject(new Error(`${url}: ${res.statusCode}`))));
    });
    sent.on('error', reject).end();
  });
}

/** Returns the CPU time of one request, in milliseconds. */
async function cpuTimePerRequest(server, path, requests, url = server.url) {
  const used = async () => {
    const { user, system } = await server.get('/usage');
    return (user + system) / 1000;
  };
  const before = await used();
  for (let n = 0; n < requests; n++) await get(url + path());
  return ((await used()) - before) / requests;
}

export async function run({ quick }) {
  const { servers, rounds, requests } = quick ? QUICK : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-cold-'));
  const server = await startServer(join(folder, 'servers.db'));
  try {
    const projects = servers / PER_PROJECT;
    const owners = Array.from({ length: projects }, (_, n) => ({ projectId: `p${n}`, userId: `user-of-p${n}` }));
    await server.populate({ count: servers, owners });
    const measuredReads = readsToMeasure(servers);
    await server.prepare(measuredReads.map(({ path }) => `/v2.1${path()}`));
    const rows = [];
    for (const [index, { what, path, budget, reason }] of measuredReads.entries()) {
      const measures = [
        () => cpuTimePerRequest(server, () => `/v2.1${path()}`, requests),
        () => cpuTimePerRequest(server, () => `/bare/${index}`, requests, server.plainUrl),
      ];
      await interleaved(1, ...measures);
      const [ours, baseline] = await interleaved(rounds, ...measures);
      rows.push({ what, ours, baseline, unit: 'ms of CPU', budget, reason });
    }
    const bare = [server.url, server.plainUrl].map(
      (url) => () => cpuTimePerRequest(server, () => '/bare/1', requests, url),
    );
    await interleaved(1, ...bare);
    const [ours, baseline] = await interleaved(rounds, ...bare);
    rows.push({
      what: 'a bare route, served by the reference server and by Express',
      ours,
      baseline,
      unit: 'ms of CPU',
    });
    return rows;
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
