// Two API processes on one PostgreSQL beside one: reads and creations. All of them, the database and the load generator
// share this machine, so on few processors the ratio tells how they share rather than how they scale.
import autocannon from 'autocannon';
import { HEADERS, startServer } from './server-process.mjs';
import { table } from './table.mjs';
import { testServers } from './test-servers.mjs';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const SECONDS = 5;

async function load(servers, path, options = {}) {
  const results = await Promise.all(
    servers.map(({ url }) =>
      autocannon({
        url: url + path,
        connections: 16 / servers.length,
        duration: SECONDS,
        headers: HEADERS,
        ...options,
      }),
    ),
  );
  if (results.some(({ non2xx }) => non2xx > 0)) throw new Error(`${path}: not every answer was a success`);
  return results.reduce((sum, { requests }) => sum + requests.average, 0);
}

export async function run() {
  const { startPostgres } = await testServers();
  const postgres = await startPostgres();
  if (!postgres) return [{ what: 'two processes on PostgreSQL', unit: 'skipped: this machine has no PostgreSQL' }];
  const servers = [await startServer(postgres.url), await startServer(postgres.url)];
  try {
    const server = { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none' };
    const body = JSON.stringify({ server });
    const rows = [];
    for (const [what, path, options] of [
      ['GET /servers/detail?limit=20', '/v2.1/servers/detail?limit=20', {}],
      ['POST /servers', '/v2.1/servers', { method: 'POST', body }],
    ]) {
      await load(servers, path, { ...options, duration: 2 });
      const one = await load(servers.slice(0, 1), path, options);
      const two = await load(servers, path, options);
      rows.push({
        what: `${what}, two processes and one`,
        ours: two,
        baseline: one,
        ratio: two / one,
        unit: 'req/s',
        budget: '>= 1.7 x (needs 4 processors)',
      });
    }
    return rows;
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()));
    await postgres.stop();
  }
}

if (process.argv[1] === import.meta.filename) {
  console.log(table(await run()));
  process.exit(0);
}
