// What a question costs in a large database on PostgreSQL, beside a tenth of it: processor time of the API's process and
// of the database's, for pages and servers that were never read before. BENCH_MILLION=1 compares 1,000,000 servers in
// 10,000 projects with 100,000 in 1,000 (several minutes, 6 GB of disk); otherwise a tenth of both.
import autocannon from 'autocannon';
import { processTime } from './process-time.mjs';
import { HEADERS, startServer } from './server-process.mjs';
import { table } from './table.mjs';
import { testServers } from './test-servers.mjs';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const BODY = JSON.stringify({ server: { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none' } });
const SIZES = process.env.BENCH_MILLION ? [100_000, 1_000_000] : [10_000, 100_000];
const PER_PROJECT = 100;
const DAY_MS = 86_400_000;

/** As `populateServers` names them. */
function idOf(index) {
  const hex = (value, digits) => value.toString(16).padStart(digits, '0');
  return `5e51${hex(index >> 16, 4)}-${hex(index & 0xffff, 4)}-4000-8000-${hex(index, 12)}`;
}

const since = new Date(Date.now() - DAY_MS).toISOString().slice(0, 19);

/** Each asks for something else every time, so that nothing that was kept is of any use. */
const questions = {
  'GET /flavors': () => '/flavors',
  'GET /servers/{id}, any': ({ servers }) => `/servers/${idOf(Math.floor(Math.random() * servers))}`,
  'GET /servers/detail?limit=100 of any project': ({ projects }) =>
    `/servers/detail?limit=100&all_tenants=1&project_id=p${Math.floor(Math.random() * projects)}`,
  'all projects, from any marker': ({ servers }) =>
    `/servers/detail?limit=20&all_tenants=1&marker=${idOf(Math.floor(Math.random() * servers))}`,
  'a whole name': ({ servers }) =>
    `/servers?all_tenants=1&name=^server-${String(Math.ceil(Math.random() * servers)).padStart(6, '0')}$`,
  'a part of a name': ({ servers }) =>
    `/servers?all_tenants=1&limit=20&name=r-${String(Math.ceil(Math.random() * servers))
      .padStart(6, '0')
      .slice(0, 5)}`,
  'an address that nobody has': () => `/servers?all_tenants=1&ip=203.0.113.${Math.floor(Math.random() * 250)}`,
  'usage of any project': ({ projects }) =>
    `/os-simple-tenant-usage/p${Math.floor(Math.random() * projects)}?start=${since}`,
};

async function open(servers, startPostgres) {
  const postgres = await startPostgres();
  const server = await startServer(postgres.url);
  const projects = servers / PER_PROJECT;
  const owners = Array.from({ length: projects }, (_, n) => ({ projectId: `p${n}`, userId: `user-of-p${n}` }));
  const begun = performance.now();
  await server.populate({ count: servers, owners });
  const populateMs = performance.now() - begun;
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query('vacuum analyze');
  const { rows } = await client.query("select pg_total_relation_size('servers') as bytes");
  await client.end();
  return { postgres, server, servers, projects, populateMs, bytes: Number(rows[0].bytes) };
}

/** Processor time of one request in milliseconds: of the API, of the database, and the median until the answer. */
async function cost(opened, path, amount) {
  const { server, postgres } = opened;
  const before = [processTime(server.pid), processTime(postgres.pid)];
  const waited = [];
  for (let n = 0; n < amount; n++) {
    const begun = performance.now();
    const response = await fetch(`${server.url}/v2.1${path(opened)}`, { headers: HEADERS });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    waited.push(performance.now() - begun);
  }
  const api = (processTime(server.pid) - before[0]) / amount;
  const database = (processTime(postgres.pid) - before[1]) / amount;
  return { api, database, ms: waited.sort((a, b) => a - b)[amount >> 1] };
}

async function creates({ server, postgres }, amount) {
  const before = [processTime(server.pid), processTime(postgres.pid)];
  const { non2xx } = await autocannon({
    url: `${server.url}/v2.1/servers`,
    method: 'POST',
    body: BODY,
    headers: HEADERS,
    connections: 32,
    amount,
  });
  if (non2xx > 0) throw new Error(`${non2xx} servers were refused`);
  await server.get('/idle');
  const api = (processTime(server.pid) - before[0]) / amount;
  return { api, database: (processTime(postgres.pid) - before[1]) / amount };
}

export async function run() {
  const { startPostgres, findProgram } = await testServers();
  if (!findProgram('initdb')) return [{ what: 'large databases', unit: 'skipped: this machine has no PostgreSQL' }];
  const opened = [];
  try {
    for (const servers of SIZES) opened.push(await open(servers, startPostgres));
    const [small, large] = opened;
    const times = `${large.servers.toLocaleString('en')} servers and ${small.servers.toLocaleString('en')}`;
    const rows = [
      { what: `making ${times}`, ours: large.populateMs / 1000, baseline: small.populateMs / 1000, unit: 's' },
      { what: 'disk of a server with its indexes', ours: large.bytes / large.servers, unit: 'bytes' },
    ];
    const add = (what, after, before, unit) =>
      rows.push({ what, ours: after, baseline: before, ratio: after / before, unit, budget: '<= 1.3 x' });
    for (const [what, path] of Object.entries(questions)) {
      for (const one of opened) await cost(one, path, 20);
      const found = [];
      for (const one of opened) found.push(await cost(one, path, 100));
      const [before, after] = found;
      add(what, after.api + after.database, before.api + before.database, 'ms of CPU, API and database');
      rows.push({ what: `${what}: of that the database`, ours: after.database, baseline: before.database, unit: 'ms' });
      rows.push({ what: `${what}: until the answer, one client`, ours: after.ms, baseline: before.ms, unit: 'ms' });
    }
    for (const one of opened) await creates(one, 200);
    const [before, after] = [await creates(small, 800), await creates(large, 800)];
    add(
      'POST /servers until ACTIVE',
      after.api + after.database,
      before.api + before.database,
      'ms of CPU, API and database',
    );
    rows.push({ what: 'POST: of that the database', ours: after.database, baseline: before.database, unit: 'ms' });
    return rows;
  } finally {
    for (const { server, postgres } of opened) {
      await server.stop();
      await postgres.stop();
    }
  }
}

if (process.argv[1] === import.meta.filename) {
  console.log(table(await run()));
  process.exit(0);
}
