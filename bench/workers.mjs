// What several workers of the reference server cost beside one: processor time of all of them together, of one request and of
// one create until ACTIVE, on PostgreSQL. It is the same work, so more processes should not need more of it.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { HEADERS } from './server-process.mjs';
import { table } from './table.mjs';
import { testServers } from './test-servers.mjs';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const MAIN = join(import.meta.dirname, '../examples/reference-server/dist/main.js');
const REQUESTS = 6_000;
const CREATES = 800;
const ROUNDS = 3;

async function freshDatabase(server, name) {
  const pg = createRequire(import.meta.url)('pg');
  const client = new pg.Client(server);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return server.replace(/\/[^/]*$/, `/${name}`);
}

/** The reference server with so many workers. */
async function start(database, workers) {
  const unlimited = ['instances', 'cores', 'ram'].flatMap((kind) => ['--quota', `${kind}=-1`]);
  const args = ['--db', database, '--workers', String(workers), '--port', '0', '--metrics', '--drain-ms', '0'];
  const child = spawn(process.execPath, [MAIN, ...args, '--log-level', 'warn', ...unlimited], {
    env: { ...process.env, APISTRATA_SECRET_KEY: Buffer.alloc(32).toString('base64') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((resolve, reject) => {
    let told = '';
    child.stdout.on('data', (chunk) => {
      told += chunk;
      const found = /Compute API (http:\S+)\/v2\.1/.exec(told);
      if (found) resolve(found[1]);
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  const sample = async (name) => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
  };
  return {
    url,
    cpuMs: async () => 1000 * (await sample('process_cpu_seconds_total')),
    /** Until nobody has work left. */
    idle: async () => {
      while ((await sample('apistrata_jobs_pending')) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', resolve);
        child.kill('SIGTERM');
      }),
  };
}

/** Milliseconds of processor time of one of so many, the median of some rounds, and how far apart they are. */
async function cost(server, path, amount, options = {}) {
  const found = [];
  for (let round = -1; round < ROUNDS; round++) {
    const before = await server.cpuMs();
    const result = await autocannon({ url: server.url + path, connections: 16, amount, headers: HEADERS, ...options });
    if (result.non2xx > 0) throw new Error(`${path}: ${result.non2xx} answers were no success`);
    await server.idle();
    // The first round warms up.
    if (round >= 0) found.push(((await server.cpuMs()) - before) / amount);
  }
  found.sort((a, b) => a - b);
  const median = found[Math.floor(ROUNDS / 2)];
  return { median, spread: (found.at(-1) - found[0]) / median };
}

export async function run() {
  const { startPostgres } = await testServers();
  const postgres = await startPostgres();
  if (!postgres) return [{ what: 'workers on PostgreSQL', unit: 'skipped: this machine has no PostgreSQL' }];
  const body = JSON.stringify({ server: { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none' } });
  const rows = [];
  const one = {};
  try {
    for (const workers of [1, 2, 4]) {
      const server = await start(await freshDatabase(postgres.url, `workers_${workers}`), workers);
      try {
        for (const [what, path, amount, options] of [
          ['GET /flavors/{id}', '/v2.1/flavors/1', REQUESTS, {}],
          ['POST /servers until ACTIVE', '/v2.1/servers', CREATES, { method: 'POST', body }],
        ]) {
          const { median, spread } = await cost(server, path, amount, options);
          one[what] ??= median;
          rows.push({
            what: `${what}, ${workers} ${workers === 1 ? 'worker' : 'workers'}, and one`,
            ours: median,
            baseline: one[what],
            ratio: median / one[what],
            spread,
            unit: 'ms of CPU',
            budget: workers === 1 ? undefined : '<= 1.1 x',
          });
        }
      } finally {
        await server.stop();
      }
    }
    return rows;
  } finally {
    await postgres.stop();
  }
}

if (process.argv[1] === import.meta.filename) {
  console.log(table(await run()));
  process.exit(0);
}
