// The cost of a list that spans several databases: pages with the servers of all projects that a process merges from
// two APIs, each with its own PostgreSQL database, compared with the same pages from one database with all servers.
// Measured as the CPU time of all processes.
import { processTime } from './process-time.mjs';
import { freshDatabase } from './reference-process.mjs';
import { interleaved } from './samples.mjs';
import { HEADERS, startServer } from './server-process.mjs';
import { durablePostgres } from './test-servers.mjs';

const FULL = { servers: 20_000, requests: 40, rounds: 9 };
const QUICK = { servers: 4000, requests: 10, rounds: 3 };
const CELLS = 2;
const PAGE = 100;
const PER_PROJECT = 100;

/** Starts an API with servers on an empty database. */
async function open(postgres, name, servers) {
  const { url, client } = await freshDatabase(postgres.url, name);
  await client.end();
  const server = await startServer(url);
  const owners = Array.from({ length: servers / PER_PROJECT }, (_, n) => ({ projectId: `${name}-${n}`, userId: name }));
  await server.populate({ count: servers, owners });
  return server;
}

async function page({ url }, marker) {
  const after = marker === undefined ? '' : `&marker=${marker}`;
  const response = await fetch(`${url}/v2.1/servers/detail?all_tenants=1&limit=${PAGE}${after}`, { headers: HEADERS });
  if (!response.ok) throw new Error(await response.text());
  return response;
}

/** Newest first, as in the API. */
const byAge = (one, other) => other.server.created.localeCompare(one.server.created);

/**
 * Returns the body of one page from all cells, and the last server of each cell on that page. Each cell must return a
 * whole page, because all of the newest servers may belong to one cell.
 */
async function mergedPage(cells, markers) {
  const pages = await Promise.all(cells.map(async (cell, index) => (await page(cell, markers[index])).json()));
  const sorted = pages.flatMap(({ servers }, cell) => servers.map((server) => ({ server, cell }))).sort(byAge);
  const shown = sorted.slice(0, PAGE);
  const last = markers.map((marker, cell) => shown.findLast((each) => each.cell === cell)?.server.id ?? marker);
  return { body: JSON.stringify({ servers: shown.map(({ server }) => server) }), last };
}

async function readMerged(cells, amount) {
  let markers = cells.map(() => undefined);
  for (let n = 0; n < amount; n++) markers = (await mergedPage(cells, markers)).last;
}

/** Reads pages from one API, for comparison with merged pages. Only the marker of each page is used. */
async function readPages(server, amount) {
  let marker;
  for (let n = 0; n < amount; n++) {
    const { servers } = await (await page(server, marker)).json();
    marker = servers.at(-1).id;
  }
}

export async function run({ quick }) {
  const { servers, requests, rounds } = quick ? QUICK : FULL;
  const postgres = await durablePostgres();
  if (!postgres) return [{ what: 'cells', unit: 'skipped: this machine has no PostgreSQL' }];
  const opened = [];
  try {
    opened.push(await open(postgres, 'whole', servers));
    for (let cell = 0; cell < CELLS; cell++) opened.push(await open(postgres, `cell${cell}`, servers / CELLS));
    const [whole, ...cells] = opened;
    const remote = () => [postgres, ...opened].reduce((sum, { pid }) => sum + processTime(pid), 0);
    const cpuTimePerRequest = async (read) => {
      const before = remote();
      const own = process.cpuUsage();
      await read();
      const { user, system } = process.cpuUsage(own);
      return { remote: (remote() - before) / requests, own: (user + system) / 1000 / requests };
    };
    const measures = [
      () => cpuTimePerRequest(() => readMerged(cells, requests)),
      () => cpuTimePerRequest(() => readPages(whole, requests)),
    ];
    await interleaved(1, ...measures);
    const [merged, single] = await interleaved(rounds, ...measures);
    const row = (what, of) => ({ what, ours: merged.map(of), baseline: single.map(of), unit: 'ms of CPU' });
    return [
      postgres.settings,
      row(
        `a page of ${PAGE} servers merged from ${CELLS} cells, compared with one database: APIs and databases`,
        (each) => each.remote,
      ),
      row(
        `a page of ${PAGE} servers merged from ${CELLS} cells, compared with one database: the merging client`,
        (each) => each.own,
      ),
    ];
  } finally {
    for (const server of opened) await server.stop();
    await postgres.stop();
  }
}
