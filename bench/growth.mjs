// What many servers that were made and deleted cost those that come after: each figure beside a new database's.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import Database from 'better-sqlite3';
import { HEADERS, startServer } from './server-process.mjs';
import { table } from './table.mjs';

const CYCLES = 100_000;
const DAY_MS = 86_400_000;
const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const BODY = JSON.stringify({ server: { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none' } });

async function create(url, amount) {
  const begun = performance.now();
  const options = { method: 'POST', body: BODY, headers: HEADERS, connections: Math.min(16, amount), amount };
  const { non2xx } = await autocannon({ url: `${url}/v2.1/servers`, ...options });
  await fetch(`${url}/idle`);
  if (non2xx > 0) throw new Error(`${non2xx} servers were refused`);
  return (1000 * amount) / (performance.now() - begun);
}

/** One server is made and deleted by requests; the others are copies of its row, ended over the last 60 days. */
async function fill(server, database) {
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
    for (let i = 1; i < CYCLES; i++) {
      const by = Math.floor((60 * DAY_MS * i) / CYCLES) + DAY_MS;
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

async function rate(url) {
  const { non2xx, requests } = await autocannon({ url, connections: 8, duration: 3, headers: HEADERS });
  if (non2xx > 0) throw new Error(`${url}: ${non2xx} answers were no success`);
  return requests.average;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-growth-'));
  try {
    const [grown, fresh] = ['grown', 'fresh'].map((name) => join(folder, `${name}.db`));
    await fill(await startServer(grown), grown);
    const servers = [await startServer(grown), await startServer(fresh)];
    for (const { url } of servers) await create(url, 200);
    const since = new Date(Date.now() - DAY_MS / 2).toISOString().slice(0, 19);
    const questions = {
      'GET /servers/detail?limit=100': '/v2.1/servers/detail?limit=100',
      'usage of a project, half a day': `/v2.1/os-simple-tenant-usage/demo?start=${since}`,
    };
    const rows = [];
    const add = async (what, unit, ask) => {
      const found = servers.map(() => []);
      // In turns, so that a drifting machine treats both alike.
      for (let round = 0; round < 3; round++)
        for (const [index, { url }] of servers.entries()) found[index].push(await ask(url));
      const [after, before] = found.map(median);
      rows.push({ what, ours: after, baseline: before, ratio: before / after, unit, budget: '<= 1.2 x the time' });
    };
    for (const [what, path] of Object.entries(questions)) await add(what, 'req/s', (url) => rate(url + path));
    await add('POST /servers until ACTIVE', 'servers/s', (url) => create(url, 500));
    for (const server of servers) await server.stop();
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  console.log(table(await run()));
  process.exit(0);
}
