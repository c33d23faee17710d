// The figures of the compute API and their budgets. Each is compared with a bare Express route, measured in the same
// process and run, and served by Express's own `listen()`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { creation, FULL_HOSTS, failedCreation } from './creation.mjs';
import { requestsPerSecond } from './load.mjs';
import { interleaved, median } from './samples.mjs';
import { HEADERS, startServer } from './server-process.mjs';

const FULL = { counts: [1000, 100_000, 1_000_000], rounds: 5, seconds: 1, creates: 4000 };
const QUICK = { counts: [100, 1000, 2000], rounds: 2, seconds: 0.3, creates: 200 };

const rate = (url, seconds) => requestsPerSecond(url, seconds, { headers: HEADERS });

/** Measures our route and a bare route alternately, after both are warm. */
async function compare(ours, bare, { rounds, seconds }) {
  for (const url of [bare, ours]) await rate(url, seconds);
  return interleaved(
    rounds,
    () => rate(ours, seconds),
    () => rate(bare, seconds),
  );
}

/** Measures our route only. */
async function alone(url, { rounds, seconds }) {
  await rate(url, seconds);
  const [samples] = await interleaved(rounds, () => rate(url, seconds));
  return samples;
}

async function pages(folder, { counts, ...amounts }) {
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
      rates.push(median(await alone(server.url + page, amounts)));
    } else {
      const [ours, baseline] = await compare(server.url + page, `${server.plainUrl}/bare/0`, amounts);
      rates.push(median(ours));
      rows.push({
        what: `GET /servers/detail?limit=100, ${servers}, hot`,
        ours,
        baseline,
        unit: 'req/s',
        budget: '>= 0.5 x',
      });
      const [flavor, bareFlavor] = await compare(`${server.url}/v2.1/flavors/1`, `${server.plainUrl}/bare/1`, amounts);
      const what = 'GET /flavors/{id}, all middlewares, hot';
      rows.push({ what, ours: flavor, baseline: bareFlavor, unit: 'req/s', budget: '>= 0.6 x' });
      rows.push({ what: `process start to listening, ${servers}`, ours: server.startMs, unit: 'ms' });
      for (const query of ['status=ACTIVE', 'name=server-000777', 'sort_key=display_name&sort_dir=asc']) {
        const [samples] = await interleaved(3, () => rate(`${server.url}${page}&${query}`, amounts.seconds));
        rows.push({ what: `the same page with ${query}, hot`, ours: samples, unit: 'req/s' });
      }
    }
    await server.stop();
    rmSync(database, { force: true });
  }
  const [few, , many] = rates;
  const what = `time of the page at ${counts[2].toLocaleString('en')} servers and at ${counts[0].toLocaleString('en')}, hot`;
  rows.push({
    what,
    ours: 1000 / many,
    baseline: 1000 / few,
    unit: 'ms',
    budget: '<= 1.3 x',
    reason: 'the two databases are measured one after the other, while the load of the machine changes',
  });
  return rows;
}

async function creationOn(folder, amount, what, options, rowsOf = creation) {
  const server = await startServer(join(folder, `create ${what}.db`), options);
  const rows = await rowsOf(server, `SQLite file, ${what}`, amount);
  await server.stop();
  return rows;
}

export async function run({ quick }) {
  const { creates, ...amounts } = quick ? QUICK : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-bench-'));
  try {
    const clouds = [
      ...(await creationOn(folder, creates, 'durability disk', { durability: 'disk' })),
      ...(await creationOn(folder, creates, 'durability disk, with events', { durability: 'disk', events: {} })),
      ...(await creationOn(folder, creates, 'durability process', { durability: 'process' })),
      ...(await creationOn(folder, creates / 2, 'durability disk, asynchronous driver', {
        durability: 'disk',
        driver: 'asynchronous',
      })),
      ...(await creationOn(
        folder,
        creates / 2,
        'durability disk, no capacity',
        { durability: 'disk', hosts: FULL_HOSTS },
        failedCreation,
      )),
    ];
    return [...(await pages(folder, amounts)), ...clouds];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
