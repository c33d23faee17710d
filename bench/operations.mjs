// The cost of every operation that reads (GET), for an administrator: the time of the thread that serves requests, with
// 100,000 servers compared with 10,000, both on 100 hosts. On PostgreSQL, database times that grow are reported as
// well. Operations that write are not measured here; `compute`, `compute-postgres` and `growth` measure creates, and
// `mixed` measures the writes of clients.
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations } from '@apistrata/compute-router';
import { Version } from '@apistrata/microversion';
import { existsAt } from '@apistrata/microversion-router';
import { startOperationCloud } from './operation-cloud.mjs';
import { requests } from './operation-requests.mjs';
import { mainThreadTime, processTime } from './process-time.mjs';
import { interleaved, median, ratioOf } from './samples.mjs';
import { HEADERS } from './server-process.mjs';
import { durablePostgres } from './test-servers.mjs';

const FULL = { sizes: [10_000, 100_000], rounds: 3, furtherRounds: 6, sampleMs: 30, most: 30 };
const QUICK = { sizes: [200, 1000], rounds: 1, furtherRounds: 0, sampleMs: 5, most: 5 };
const BUDGET_MS = 20;
const GROWTH = 1.3;
/** If the database takes less than this time, its growth is not reported. */
const NOTABLE_MS = 5;
const NEWEST_MINOR = 102;

/** Returns the newest version at which any operation of a path exists. */
function newestOf(path) {
  const reads = operations.filter((operation) => operation.method === 'GET' && operation.path === path);
  for (let minor = NEWEST_MINOR; minor > 0; minor--)
    if (reads.some((operation) => existsAt(operation, Version.of(`2.${minor}`)))) return `2.${minor}`;
  throw new Error(`GET ${path} exists at no version`);
}

/** Returns the requests to measure for all operations that read, in the order of the operations. */
function requestsToMeasure() {
  const reads = operations.filter(({ method }) => method === 'GET');
  return [...new Set(reads.map(({ path }) => path))].flatMap((path) => {
    const measured = requests[`GET ${path}`];
    if (typeof measured === 'string') return [];
    if (!measured) throw new Error(`GET ${path} has no request in operation-requests.mjs`);
    return measured.map((given) => ({ path, version: newestOf(path), ...given }));
  });
}

function pathFor({ parameter }, { path, params = {}, query }) {
  const own = path.replaceAll(/\{([^}]+)\}/g, (_, name) => encodeURIComponent(parameter(params[name])));
  const filled = query?.replaceAll(/\{([^}]+)\}/g, (_, name) => parameter(name));
  return filled ? `${own}?${filled}` : own;
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function sendRequest(cloud, sample) {
  const url = `${cloud.server.url}/v2.1${pathFor(cloud, sample)}`;
  const headers = { ...HEADERS, 'OpenStack-API-Version': `compute ${sample.version}` };
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, agent }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => {
        if (response.statusCode < 300) resolve();
        else reject(new Error(`${url} at ${sample.version}: ${response.statusCode} ${Buffer.concat(parts)}`));
      });
    });
    sent.on('error', reject).end();
  });
}

/** Returns the CPU time of one request in milliseconds: of the serving thread, and of the database. */
async function cpuTimePerRequest({ server, databasePid, ...cloud }, sample, amount) {
  const used = () => [mainThreadTime(server.pid), databasePid ? processTime(databasePid) : 0];
  const before = used();
  for (let n = 0; n < amount; n++) await sendRequest({ server, ...cloud }, sample);
  const [thread, database] = used().map((time, index) => (time - before[index]) / amount);
  return { thread, database };
}

function rowsOf(kind, { path, query, subject, version, reason, database: grows }, ours, baseline) {
  const what = `${kind}: GET ${path}${query ? `?${query}` : ''}${subject ? ` of ${subject}` : ''}, ${version}`;
  const samples = (of) => ({ ours: ours.map(of), baseline: baseline.map(of) });
  const budget = `<= ${BUDGET_MS} ms, <= ${GROWTH} x`;
  const rows = [{ what, ...samples(({ thread }) => thread), unit: 'ms of the serving thread', budget, reason }];
  const database = samples((sample) => sample.database);
  const [large, small] = [median(database.ours), median(database.baseline)];
  if (large > NOTABLE_MS && large > GROWTH * small)
    rows.push({
      what: `${what}: the database`,
      ...database,
      unit: 'ms of CPU',
      budget: `<= ${GROWTH} x`,
      reason: grows ?? reason,
    });
  return rows;
}

async function measure(kind, small, large, { rounds, furtherRounds, sampleMs, most, sizes }) {
  const rows = [];
  for (const sample of requestsToMeasure()) {
    // Warm-up: the first requests build schemas and renderers.
    for (const cloud of [small, large]) await cpuTimePerRequest(cloud, sample, 2);
    const once = await cpuTimePerRequest(large, sample, 2);
    const amount = Math.max(2, Math.min(most, Math.ceil(sampleMs / (once.thread + once.database))));
    const measures = [large, small].map((cloud) => () => cpuTimePerRequest(cloud, sample, amount));
    const samples = await interleaved(rounds, ...measures);
    const isMissed = () => ratioOf(...samples.map((list) => list.map(({ thread }) => thread)))?.median > GROWTH;
    // Few rounds suffice for most requests. A growth without a known reason may be that of other load.
    if (!sample.reason && isMissed())
      for (const [index, more] of (await interleaved(furtherRounds, ...measures)).entries())
        samples[index].push(...more);
    rows.push(...rowsOf(kind, sample, ...samples));
  }
  const [from, to] = sizes.map((size) => size.toLocaleString('en'));
  return [{ what: `${kind}: operations that read (GET), with ${to} servers and with ${from}` }, ...rows];
}

export async function run({ quick }) {
  const amounts = quick ? QUICK : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-operations-'));
  const started = [];
  const start = async (kind, databaseOf) => {
    const clouds = [];
    for (const size of amounts.sizes) {
      const { url, pid } = await databaseOf(size);
      const cloud = { ...(await startOperationCloud(url, size)), databasePid: pid };
      started.push(() => cloud.server.stop());
      clouds.push(cloud);
    }
    return measure(kind, ...clouds, amounts);
  };
  try {
    const rows = await start('SQLite', (size) => ({ url: join(folder, `${size}.db`) }));
    const postgres = await durablePostgres();
    if (!postgres) return rows;
    started.push(() => postgres.stop());
    const inPostgres = await start('PostgreSQL', async (size) => {
      if (size === amounts.sizes[0]) return postgres;
      const other = await durablePostgres();
      started.push(() => other.stop());
      return other;
    });
    return [...rows, postgres.settings, ...inPostgres];
  } finally {
    for (const stop of started.reverse()) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
