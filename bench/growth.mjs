// How the creation and deletion of many servers affects later requests: each figure is compared with that of a new
// database.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { load } from './load.mjs';
import { processTime } from './process-time.mjs';
import { interleaved } from './samples.mjs';
import { HEADERS, startServer } from './server-process.mjs';

const FULL = { cycles: 100_000, rounds: 5, requests: 300, creates: 400 };
const QUICK = { cycles: 1000, rounds: 2, requests: 30, creates: 50 };
const DAY_MS = 86_400_000;
const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const BODY = JSON.stringify({ server: { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none' } });

async function create(url, amount) {
  const begun = performance.now();
  await load(`${url}/v2.1/servers`, { method: 'POST', body: BODY, headers: HEADERS, amount });
  await fetch(`${url}/idle`);
  return (1000 * amount) / (performance.now() - begun);
}

/** Fills a database: one server is created and deleted by requests; the others are copies of its row, deleted over the last 60 days. */
async function fill(server, database, cycles) {
  await create(server.url, 1);
  const { servers } = await server.get('/v2.1/servers');
  await fetch(`${server.url}/v2.1/servers/${servers[0].id}`, { method: 'DELETE', headers: HEADERS });
  await server.get('/idle');
  await server.stop();
  const db = new Database(database);
  const row = db.prepare('select * from servers where terminated_at is not null').get();
  const columns = Object.keys(row).filter((name) => name !== 'seq');
  const insert = db.prepare(`insert into servers (${columns}) values (${columns.map((name) => `@${name}`)})`);
  const record = JSON.parse(row.data);
  const shift = (value, by) => (typeof value === 'number' ? value - by : value);
  const times = ['createdAt', 'updatedAt', 'launchedAt', 'terminatedAt', 'deletedAt'];
  db.transaction(() => {
    for (let i = 1; i < cycles; i++) {
      const by = Math.floor((60 * DAY_MS * i) / cycles) + DAY_MS;
      const data = { ...record, id: randomUUID() };
      for (const name of times) if (name in data) data[name] = shift(data[name], by);
      const copy = { ...row, id: data.id, revision: row.revision + i, data: JSON.stringify(data) };
      for (const name of ['created_at', 'updated_at', 'launched_at', 'terminated_at', 'deleted_at'])
        if (name in copy) copy[name] = shift(copy[name], by);
      insert.run(copy);
    }
  })();
  db.close();
}

/** Returns the CPU time of one request, in milliseconds. */
async function cpuTimePerRequest({ url, pid }, path, amount) {
  const before = processTime(pid);
  await load(url + path, { connections: 8, headers: HEADERS, amount });
  return (processTime(pid) - before) / amount;
}

export async function run({ quick }) {
  const { cycles, rounds, requests, creates } = quick ? QUICK : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-growth-'));
  try {
    const [grown, fresh] = ['grown', 'fresh'].map((name) => join(folder, `${name}.db`));
    await fill(await startServer(grown), grown, cycles);
    const servers = [await startServer(grown), await startServer(fresh)];
    for (const { url } of servers) await create(url, creates);
    const since = new Date(Date.now() - DAY_MS / 2).toISOString().slice(0, 19);
    const requestsByName = {
      'GET /servers/detail?limit=100': '/v2.1/servers/detail?limit=100',
      'usage of a project, half a day': `/v2.1/os-simple-tenant-usage/demo?start=${since}`,
    };
    const rows = [];
    const add = async (what, unit, budget, send) => {
      const measures = servers.map((server) => () => send(server));
      await interleaved(1, ...measures);
      const [ours, baseline] = await interleaved(rounds, ...measures);
      rows.push({ what, ours, baseline, unit, budget });
    };
    for (const [what, path] of Object.entries(requestsByName))
      await add(what, 'ms of CPU', '<= 1.2 x', (server) => cpuTimePerRequest(server, path, requests));
    await add('POST /servers until ACTIVE', 'servers/s', '>= 0.83 x: 1.2 x the time', ({ url }) =>
      create(url, creates),
    );
    for (const server of servers) await server.stop();
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
