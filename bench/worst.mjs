// How long `GET /flavors` takes while 16 clients ask the worst questions there are, beside a bare route of the same process
// at the same time: what is longer than that was spent in our code, what both wait for was a thread that was kept busy.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HEADERS, startServer } from './server-process.mjs';
import { table } from './table.mjs';
import { testServers } from './test-servers.mjs';

const SERVERS = 20_000;
const CLIENTS = 16;
const SECONDS = 8;

/** Nobody has what is asked for, so everything that may have it is looked through. */
const questions = [
  '/servers/detail?all_tenants=1&ip=203.0.113.99',
  '/servers/detail?all_tenants=1&name=nobody.here',
  '/servers/detail?all_tenants=1&key_name=nobody',
  '/servers/detail?all_tenants=1&tags=nobody',
  '/servers/detail?all_tenants=1&node=nobody',
  '/servers/detail?all_tenants=1&sort_key=task_state&limit=100',
  '/servers/detail?all_tenants=1&changes-since=2001-01-01T00:00:00Z&deleted=1',
  '/servers/detail?all_tenants=1&limit=1000',
];

async function ask(url) {
  const response = await fetch(url, { headers: HEADERS });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${text}`);
}

const share = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];

async function measure(kind, database) {
  const server = await startServer(database);
  try {
    const owners = Array.from({ length: SERVERS / 100 }, (_, n) => ({ projectId: `p${n}`, userId: `user-of-p${n}` }));
    await server.populate({ count: SERVERS, owners });
    await server.prepare(['/v2.1/flavors']);
    let ended = false;
    let answered = 0;
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let n = client; !ended; n++) {
        await ask(`${server.url}/v2.1${questions[n % questions.length]}`);
        answered++;
      }
    });
    const waited = { '/v2.1/flavors': [], '/bare/0': [] };
    const until = performance.now() + SECONDS * 1000;
    while (performance.now() < until) {
      for (const [path, times] of Object.entries(waited)) {
        const begun = performance.now();
        await ask(server.url + path);
        times.push(performance.now() - begun);
      }
    }
    ended = true;
    await Promise.all(clients);
    const [ours, bare] = Object.values(waited).map((times) => times.sort((a, b) => a - b));
    const row = (what, part, budget) => {
      const [our, theirs] = [share(ours, part), share(bare, part)];
      return { what: `${kind}: ${what}`, ours: our, baseline: theirs, ratio: our / theirs, unit: 'ms', budget };
    };
    return [
      row('GET /flavors, median', 0.5),
      row('GET /flavors, p99', 0.99, '<= 25 ms'),
      { what: `${kind}: the worst questions themselves, all clients`, ours: answered / SECONDS, unit: 'answers/s' },
    ];
  } finally {
    await server.stop();
  }
}

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-worst-'));
  const { startPostgres } = await testServers();
  const postgres = await startPostgres();
  try {
    const rows = await measure('SQLite file', join(folder, 'servers.db'));
    return postgres ? [...rows, ...(await measure('PostgreSQL', postgres.url))] : rows;
  } finally {
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  console.log(table(await run()));
  process.exit(0);
}
