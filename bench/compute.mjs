// The budgets of the compute API, each beside a bare Express route in the same process and run.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load, requestsPerSecond } from './load.mjs';
import { inTurns, median } from './samples.mjs';
import { HEADERS, startServer } from './server-process.mjs';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const FULL = { counts: [1000, 100_000, 1_000_000], rounds: 5, seconds: 1.5, creates: 4000 };
const QUICK = { counts: [100, 1000, 2000], rounds: 2, seconds: 0.3, creates: 200 };

const rate = (url, seconds) => requestsPerSecond(url, seconds, { headers: HEADERS });

/** Ours and a bare route in turns, after both are warm. */
async function compare(ours, bare, { rounds, seconds }) {
  for (const url of [bare, ours]) await rate(url, seconds);
  return inTurns(
    rounds,
    () => rate(ours, seconds),
    () => rate(bare, seconds),
  );
}

/** The same of ours alone. */
async function alone(url, { rounds, seconds }) {
  await rate(url, seconds);
  const [samples] = await inTurns(rounds, () => rate(url, seconds));
  return samples;
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

async function pages(folder, { counts, ...much }) {
  const rows = [];
  const page = '/v2.1/servers/detail?limit=100';
  const rates = [];
  const [, usual] = counts;
  const servers = `${usual.toLocaleString('en')} servers`;
  for (const count of counts) {
    const database = join(folder, `servers-${count}.db`);
    const first = await startServer(database);
    await first.populate({ count, owners: [{ projectId: 'demo', userId: 'admin' }] });
    await first.stop();
    const server = await startServer(database);
    await server.prepare([page, '/v2.1/flavors/1']);
    if (count !== usual) {
      rates.push(median(await alone(server.url + page, much)));
    } else {
      const [ours, baseline] = await compare(server.url + page, `${server.url}/bare/0`, much);
      rates.push(median(ours));
      rows.push({
        what: `GET /servers/detail?limit=100, ${servers}, hot`,
        ours,
        baseline,
        unit: 'req/s',
        budget: '>= 0.5 x',
      });
      const [flavor, bareFlavor] = await compare(`${server.url}/v2.1/flavors/1`, `${server.url}/bare/1`, much);
      const what = 'GET /flavors/{id}, all middlewares, hot';
      rows.push({ what, ours: flavor, baseline: bareFlavor, unit: 'req/s', budget: '>= 0.6 x' });
      const { rss } = await server.get('/memory');
      rows.push({
        what: `memory with ${servers}, after the load above`,
        ours: rss / 2 ** 20,
        unit: 'MiB',
        budget: '<= 250',
      });
      rows.push({ what: `process start to listening, ${servers}`, ours: server.startMs, unit: 'ms' });
      for (const query of ['status=ACTIVE', 'name=server-000777', 'sort_key=display_name&sort_dir=asc']) {
        const [samples] = await inTurns(3, () => rate(`${server.url}${page}&${query}`, much.seconds));
        rows.push({ what: `the same page with ${query}, hot`, ours: samples, unit: 'req/s' });
      }
    }
    await server.stop();
    rmSync(database, { force: true });
  }
  const [few, , many] = rates;
  const what = `time of the page at ${counts[2].toLocaleString('en')} servers and at ${counts[0].toLocaleString('en')}, hot`;
  rows.push({ what, ours: 1000 / many, baseline: 1000 / few, unit: 'ms', budget: '<= 1.3 x' });
  return rows;
}

async function creation(folder, durability, amount) {
  const server = await startServer(join(folder, `create-${durability}.db`), durability);
  await Promise.all(Array.from({ length: 200 }, (_, i) => boot(server.url, `warm-${i}`)));
  await server.get('/idle');
  const body = JSON.stringify({ server: { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none' } });
  const [samples] = await inTurns(4, async () => {
    const begun = performance.now();
    const part = { method: 'POST', body, headers: HEADERS, connections: 32, amount: amount / 4 };
    await load(`${server.url}/v2.1/servers`, part);
    await server.get('/idle');
    return amount / 4 / ((performance.now() - begun) / 1000);
  });
  const { servers } = await server.get('/v2.1/servers/detail?limit=1000');
  if (servers.some(({ status }) => status !== 'ACTIVE')) throw new Error('not every server became ACTIVE');
  await server.stop();
  return {
    what: `POST /servers until ACTIVE, SQLite file, durability ${durability}`,
    ours: samples,
    unit: 'servers/s',
    budget: '>= 1000/s',
  };
}

export async function run({ quick }) {
  const { creates, ...much } = quick ? QUICK : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-bench-'));
  try {
    const made = [await creation(folder, 'disk', creates), await creation(folder, 'process', creates)];
    return [...(await pages(folder, much)), ...made];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
