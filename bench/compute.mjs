// The budgets of the compute API, each beside a bare Express route in the same process and run.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import Database from 'better-sqlite3';
import { HEADERS, startServer } from './server-process.mjs';
import { table } from './table.mjs';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const folder = mkdtempSync(join(tmpdir(), 'apistrata-bench-'));

async function rate(url, options = {}) {
  const result = await autocannon({ url, connections: 16, duration: 4, headers: HEADERS, ...options });
  if (result.non2xx > 0) throw new Error(`${url}: ${result.non2xx} answers were no success`);
  return result.requests.average;
}

/** Ours and the baseline in turns, so that a drifting machine treats both alike; the medians of three, and the spread of ours. */
async function compare(ours, bare) {
  const figures = { ours: [], bare: [] };
  for (let round = 0; round < 3; round++) {
    figures.bare.push(await rate(bare, { duration: 3 }));
    figures.ours.push(await rate(ours, { duration: 3 }));
  }
  const median = (list) => list.sort((a, b) => a - b)[1];
  const middle = median(figures.ours);
  return [middle, median(figures.bare), (figures.ours.at(-1) - figures.ours[0]) / middle];
}

async function boot(url, name) {
  const server = { name, flavorRef: '1', imageRef: IMAGE, networks: 'none' };
  const response = await fetch(`${url}/v2.1/servers`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ server }),
  });
  if (response.status !== 202) throw new Error(await response.text());
  return (await response.json()).server.id;
}

/** Copies one real server until there are so many. */
function fill(database, count) {
  const db = new Database(database);
  const [row] = db.prepare('select * from servers limit 1').all();
  const columns = Object.keys(row).filter((name) => name !== 'seq');
  const insert = db.prepare(
    `insert into servers (${columns.join()}) values (${columns.map((name) => `@${name}`).join()})`,
  );
  const record = JSON.parse(row.data);
  db.transaction(() => {
    const { n } = db.prepare('select count(*) n from servers').get();
    for (let i = n; i < count; i++) {
      const copy = {
        ...record,
        id: randomUUID(),
        name: `server-${i}`,
        createdAt: record.createdAt + i,
        updatedAt: record.updatedAt + i,
      };
      insert.run({
        ...row,
        id: copy.id,
        name: copy.name,
        created_at: copy.createdAt,
        updated_at: copy.updatedAt,
        revision: i + 1,
        data: JSON.stringify(copy),
      });
    }
  })();
  db.exec('analyze');
  db.close();
}

async function pages(counts = [1000, 100_000, 1_000_000]) {
  const rows = [];
  const page = '/v2.1/servers/detail?limit=100';
  const times = {};
  for (const count of counts) {
    const database = join(folder, `servers-${count}.db`);
    const first = await startServer(database);
    await boot(first.url, 'first');
    await first.get('/idle');
    await first.stop();
    fill(database, count);
    const server = await startServer(database);
    const { prepared } = await server.prepare([page, '/v2.1/flavors/1']);
    const [ours, bare, spread] = await compare(server.url + page, `${server.url}/bare/0`);
    times[count] = 1000 / ours;
    if (count === 100_000) {
      rows.push({
        what: `GET /servers/detail?limit=100, 100,000 servers (${prepared[0]} bytes)`,
        ours,
        baseline: bare,
        ratio: ours / bare,
        spread,
        unit: 'req/s',
        budget: '>= 0.5 x',
      });
      const [flavor, bareFlavor, flavorSpread] = await compare(`${server.url}/v2.1/flavors/1`, `${server.url}/bare/1`);
      rows.push({
        what: 'GET /flavors/{id}, all middlewares',
        ours: flavor,
        baseline: bareFlavor,
        ratio: flavor / bareFlavor,
        spread: flavorSpread,
        unit: 'req/s',
        budget: '>= 0.6 x',
      });
      const { rss } = await server.get('/memory');
      rows.push({
        what: 'resident memory with 100,000 servers, after the load above',
        ours: rss / 2 ** 20,
        unit: 'MiB',
        budget: '<= 250',
      });
      rows.push({ what: 'process start to listening, 100,000 servers', ours: server.startMs, unit: 'ms' });
      for (const query of ['status=ACTIVE', 'name=server-777', 'sort_key=display_name&sort_dir=asc']) {
        rows.push({
          what: `the same page with ${query}`,
          ours: await rate(`${server.url}${page}&${query}`),
          unit: 'req/s',
        });
      }
    }
    await server.stop();
    rmSync(database, { force: true });
  }
  rows.push({
    what: 'time of a page at 1,000,000 servers and at 1,000',
    ours: times[1_000_000],
    baseline: times[1000],
    ratio: times[1_000_000] / times[1000],
    unit: 'ms',
    budget: '<= 1.3 x',
  });
  return rows;
}

async function creation(durability) {
  const server = await startServer(join(folder, `create-${durability}.db`), durability);
  await Promise.all(Array.from({ length: 200 }, (_, i) => boot(server.url, `warm-${i}`)));
  await server.get('/idle');
  const body = JSON.stringify({ server: { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none' } });
  const amount = 8000;
  const begun = performance.now();
  const result = await autocannon({
    url: `${server.url}/v2.1/servers`,
    method: 'POST',
    body,
    headers: HEADERS,
    connections: 32,
    amount,
  });
  await server.get('/idle');
  const seconds = (performance.now() - begun) / 1000;
  const { servers } = await server.get('/v2.1/servers/detail?limit=1000');
  if (result.non2xx > 0 || servers.some(({ status }) => status !== 'ACTIVE'))
    throw new Error('not every server became ACTIVE');
  await server.stop();
  return {
    what: `POST /servers until ACTIVE, SQLite file, durability ${durability}`,
    ours: amount / seconds,
    unit: 'servers/s',
    budget: '>= 1000/s',
  };
}

export { creation, pages };

export async function run() {
  try {
    return [...(await pages()), await creation('disk'), await creation('process')];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  console.log(table(await run()));
  process.exit(0);
}
