// The cost of a query in a large PostgreSQL database, compared with a database a tenth of its size: the CPU time of the
// API process and of the database, for pages and servers that have never been read before, and the time that
// maintenance takes. BENCH_MILLION=3 compares 3,000,000 servers in 30,000 projects with 100,000 in 1,000 (up to an
// hour, 20 GB of disk); by default, 100,000 are compared with 10,000.
import { copyServers } from './copy-servers.mjs';
import { load } from './load.mjs';
import { processTime } from './process-time.mjs';
import { interleaved } from './samples.mjs';
import { maintenanceRows } from './scale-maintenance.mjs';
import { HEADERS, idOf, startServer } from './server-process.mjs';
import { durablePostgres, testServers } from './test-servers.mjs';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const BODY = JSON.stringify({ server: { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none' } });
const { BENCH_MILLION } = process.env;
const FULL = {
  sizes: BENCH_MILLION ? [100_000, Number(BENCH_MILLION) * 1_000_000] : [10_000, 100_000],
  requests: 40,
  rounds: 3,
  creates: 400,
  purged: BENCH_MILLION ? 10_000 : 1000,
};
const QUICK = { sizes: [200, 2000], requests: 10, rounds: 2, creates: 50, purged: 100 };
const PER_PROJECT = 100;
const DAY_MS = 86_400_000;

const since = new Date(Date.now() - DAY_MS).toISOString().slice(0, 19);

/**
 * Projects are queried in sequence, so that even in the small database, records are evicted before the next query of
 * their project. If projects were selected at random, nearly half of the records would be cached.
 */
const nextProject = (opened) => `p${opened.turn++ % opened.projects}`;

/** The path of a read request, by name. Ids, names and projects differ in each request, so that caches do not help. */
export const readsByName = {
  'GET /flavors': () => '/flavors',
  'GET /limits': () => '/limits',
  'all projects, first page': () => '/servers/detail?limit=20&all_tenants=1',
  'GET /servers/{id}, any': ({ servers }) => `/servers/${idOf(Math.floor(Math.random() * servers))}`,
  'GET /servers/detail?limit=100 of any project': (opened) =>
    `/servers/detail?limit=100&all_tenants=1&project_id=${nextProject(opened)}`,
  'all projects, from any marker': ({ servers }) =>
    `/servers/detail?limit=20&all_tenants=1&marker=${idOf(Math.floor(Math.random() * servers))}`,
  'a whole name': ({ servers }) =>
    `/servers?all_tenants=1&name=^server-${String(Math.ceil(Math.random() * servers)).padStart(6, '0')}$`,
  'a part of a name': ({ servers }) =>
    `/servers?all_tenants=1&limit=20&name=r-${String(Math.ceil(Math.random() * servers))
      .padStart(6, '0')
      .slice(0, 5)}`,
  'a part of a name that no server of a project has': (opened) =>
    `/servers?all_tenants=1&limit=20&project_id=${nextProject(opened)}&name=-x${Math.floor(Math.random() * 10)}`,
  'an unused address': () => `/servers?all_tenants=1&ip=203.0.113.${Math.floor(Math.random() * 250)}`,
  'usage of any project': (opened) => `/os-simple-tenant-usage/${nextProject(opened)}?start=${since}`,
};

async function open(servers) {
  const postgres = await durablePostgres();
  const projects = servers / PER_PROJECT;
  const owners = Array.from({ length: projects }, (_, n) => ({ projectId: `p${n}`, userId: `user-of-p${n}` }));
  const first = await startServer(postgres.url);
  await first.populate({ count: 1, owners });
  await first.stop();
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const begun = performance.now();
  await copyServers(client, servers, owners);
  const populateMs = performance.now() - begun;
  await client.query('vacuum analyze');
  const { rows } = await client.query("select pg_total_relation_size('servers') as bytes");
  await client.end();
  const server = await startServer(postgres.url);
  return { postgres, server, servers, projects, turn: 0, populateMs, bytes: Number(rows[0].bytes) };
}

/** Returns the CPU time of one request in milliseconds: that of the API, and that of the database. */
async function cpuTimePerRequest(opened, path, amount) {
  const { server, postgres } = opened;
  const before = [processTime(server.pid), processTime(postgres.pid)];
  for (let n = 0; n < amount; n++) {
    const response = await fetch(`${server.url}/v2.1${path(opened)}`, { headers: HEADERS });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
  }
  const api = (processTime(server.pid) - before[0]) / amount;
  return { api, database: (processTime(postgres.pid) - before[1]) / amount };
}

async function create({ server, postgres }, amount) {
  const before = [processTime(server.pid), processTime(postgres.pid)];
  const options = { method: 'POST', body: BODY, headers: HEADERS, connections: 32, amount };
  await load(`${server.url}/v2.1/servers`, options);
  await server.get('/idle');
  const api = (processTime(server.pid) - before[0]) / amount;
  return { api, database: (processTime(postgres.pid) - before[1]) / amount };
}

/** Measures requests and maintenance of a large and a small database. */
async function compare(large, small, { requests, rounds, creates, purged }) {
  const rows = [{ what: 'disk of a server with its indexes', ours: large.bytes / large.servers, unit: 'bytes' }];
  /** Measures the candidates alternately, after a warm-up. */
  const add = async (what, measure) => {
    const measures = [() => measure(large), () => measure(small)];
    await interleaved(1, ...measures);
    const [after, before] = await interleaved(rounds, ...measures);
    const samples = (of) => ({ ours: after.map(of), baseline: before.map(of) });
    const unit = 'ms of CPU, API and database';
    rows.push({ what, ...samples(({ api, database }) => api + database), unit, budget: '<= 1.3 x' });
    rows.push({ what: `${what}: share of the database`, ...samples(({ database }) => database), unit: 'ms of CPU' });
  };
  for (const [what, path] of Object.entries(readsByName))
    await add(what, (opened) => cpuTimePerRequest(opened, path, requests));
  await add('POST /servers until ACTIVE', (opened) => create(opened, creates));
  return [...rows, ...(await maintenanceRows(large, small, purged))];
}

export async function run({ quick }) {
  const { sizes, ...amounts } = quick ? QUICK : FULL;
  const { findProgram } = await testServers();
  if (!findProgram('initdb')) return [{ what: 'large databases', unit: 'skipped: this machine has no PostgreSQL' }];
  const opened = [];
  try {
    for (const servers of sizes) opened.push(await open(servers));
    const [small, large] = opened;
    const times = `${large.servers.toLocaleString('en')} servers and ${small.servers.toLocaleString('en')}`;
    return [
      large.postgres.settings,
      { what: `making ${times}`, ours: large.populateMs / 1000, baseline: small.populateMs / 1000, unit: 's' },
      ...(await compare(large, small, amounts)),
    ];
  } finally {
    for (const { server, postgres } of opened) {
      await server.stop();
      await postgres.stop();
    }
  }
}
