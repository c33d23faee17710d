// The cost of administrator queries in a database with planner statistics, compared with the same database without
// statistics: lists of servers, each with another query, and the other queries of administrators. The plans must be the
// same in both. Measures the CPU time of the API process and of PostgreSQL; for SQLite, which runs in the API process,
// also the CPU time of the thread that serves all requests.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { hosts, startOperationCloud } from './operation-cloud.mjs';
import { mainThreadTime, processTime } from './process-time.mjs';
import { interleaved } from './samples.mjs';
import { readsByName } from './scale.mjs';
import { HEADERS, startServer } from './server-process.mjs';
import { durablePostgres, testServers } from './test-servers.mjs';

const FULL = { servers: 100_000, rounds: 3, requests: 40 };
const QUICK = { servers: 1_000, rounds: 2, requests: 10 };
const PER_PROJECT = 100;

/** The measured lists of servers, with their budgets on a SQLite file. */
const budgets = {
  'all projects, from any marker': '<= 2 ms',
  'a whole name': '<= 2 ms',
  'a part of a name': '<= 20 ms',
  'an unused address': '<= 20 ms',
};

const since = new Date(Date.now() - 86_400_000).toISOString().slice(0, 19);

/** The other queries of administrators, by name: their paths, and the version, if the operation does not exist at the newest one. */
const administrators = {
  'hypervisors with details': ['/os-hypervisors/detail'],
  services: ['/os-services'],
  aggregates: ['/os-aggregates'],
  'usage of all projects': [`/os-simple-tenant-usage?limit=100&start=${since}`],
  limits: ['/limits'],
  hosts: ['/os-hosts', '2.42'],
  migrations: ['/os-migrations?limit=100'],
  'server groups': ['/os-server-groups?all_projects=1&limit=100'],
};

/** The budget of the serving thread for each of `administrators`, if the database is a SQLite file. */
const SERVING_BUDGET = '<= 20 ms';

/** The requests to measure: the name, a function that returns the path, the version, and the budgets on a SQLite file. */
const measuredRequests = [
  ...Object.entries(budgets).map(([what, budget]) => ({ what, path: readsByName[what], budget })),
  ...Object.entries(administrators).map(([what, [path, version]]) => ({
    what,
    path: () => path,
    version,
    servingBudget: SERVING_BUDGET,
  })),
];

/** Fills a database with servers and other resources, without statistics. */
async function fill(database, servers) {
  const { server } = await startOperationCloud(database, servers, { statistics: false });
  await server.stop();
}

/** Creates two SQLite files with the same content. Only the first file has statistics. */
async function createFiles(folder, servers) {
  const [analyzed, plain] = ['analyzed', 'plain'].map((name) => join(folder, `${name}.db`));
  await fill(plain, servers);
  const db = new Database(plain);
  db.pragma('wal_checkpoint(truncate)');
  db.close();
  copyFileSync(plain, analyzed);
  const copy = new Database(analyzed);
  copy.exec('analyze');
  copy.close();
  return [analyzed, plain];
}

/** Creates two databases on a PostgreSQL server, and returns their URLs. Only the first has planner statistics. */
async function databases({ url }, servers) {
  const { default: pg } = await import('pg');
  const sendRequest = async (connectionString, work) => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    await work(client);
    await client.end();
  };
  const named = (name) => url.replace(/\/[^/]*$/, `/${name}`);
  await sendRequest(url, async (client) => {
    // Statistics are collected only by this benchmark.
    await client.query('alter system set autovacuum = off');
    await client.query('select pg_reload_conf()');
    await client.query('create database plain');
  });
  await fill(named('plain'), servers);
  await sendRequest(url, (client) => client.query('create database analyzed template plain'));
  await sendRequest(named('analyzed'), (client) => client.query('analyze'));
  return [named('analyzed'), named('plain')];
}

async function measure(kind, urls, { servers, rounds, requests }, postgres) {
  const opened = [];
  const rows = [];
  try {
    for (const url of urls)
      opened.push({ server: await startServer(url, { hosts }), servers, projects: servers / PER_PROJECT });
    for (const { what, path, version, budget, servingBudget } of measuredRequests) {
      const headers = { ...HEADERS, ...(version && { 'OpenStack-API-Version': `compute ${version}` }) };
      const cpuTimePerRequest = async (one) => {
        const { pid, url } = one.server;
        const used = () => ({
          api: processTime(pid),
          serving: mainThreadTime(pid),
          database: postgres ? processTime(postgres.pid) : 0,
        });
        const before = used();
        for (let n = 0; n < requests; n++) {
          const response = await fetch(`${url}/v2.1${path(one)}`, { headers });
          const text = await response.text();
          if (!response.ok) throw new Error(text);
        }
        const after = used();
        const each = (name) => (after[name] - before[name]) / requests;
        return { all: each('api') + each('database'), serving: each('serving'), database: each('database') };
      };
      const measures = opened.map((one) => () => cpuTimePerRequest(one));
      await interleaved(1, ...measures);
      const found = await interleaved(rounds, ...measures);
      const add = (name, of, limit) => {
        const [ours, baseline] = found.map((samples) => samples.map((sample) => sample[of]));
        rows.push({ what: `${kind}: ${name}`, ours, baseline, unit: 'ms of CPU', budget: limit });
      };
      add(`${what}, with statistics and without`, 'all', postgres ? undefined : budget);
      if (postgres) add(`${what}: share of the database`, 'database');
      else add(`${what}: share of the serving thread`, 'serving', servingBudget);
    }
    return rows;
  } finally {
    for (const { server } of opened) await server.stop();
  }
}

export async function run({ quick }) {
  const amounts = quick ? QUICK : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-statistics-'));
  try {
    const rows = await measure('SQLite file', await createFiles(folder, amounts.servers), amounts);
    const { findProgram } = await testServers();
    if (!findProgram('initdb'))
      return [...rows, { what: 'PostgreSQL', unit: 'skipped: this machine has no PostgreSQL' }];
    const postgres = await durablePostgres();
    try {
      const urls = await databases(postgres, amounts.servers);
      return [...rows, ...(await measure('PostgreSQL', urls, amounts, postgres))];
    } finally {
      await postgres.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
