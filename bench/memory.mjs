// The resident memory of the installed reference server under load, and of many test clouds in one process.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCloud } from '@apistrata/test-cloud';
import { installProgram } from './installed-program.mjs';
import { interleaved } from './samples.mjs';
import { startServer } from './server-process.mjs';

const PAGE = '/v2.1/servers/detail?limit=100';
const FLAVOR = '/v2.1/flavors/1';
/**
 * `requests` is the number of requests of one round, by path. The young generation of the heap grows with the number of
 * requests, not with time.
 */
const FULL = { servers: 100_000, clouds: 100, rounds: 3, runs: 2, requests: { [PAGE]: 5000, [FLAVOR]: 30_000 } };
const QUICK = { servers: 2000, clouds: 5, rounds: 1, runs: 1, requests: { [PAGE]: 100, [FLAVOR]: 500 } };
const MIB = 2 ** 20;

/** Starts many test clouds. Returns the resulting growth of this process's resident memory, in bytes. */
async function memoryOfManyClouds(amount) {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const clouds = await Promise.all(Array.from({ length: amount }, () => startCloud()));
  const first = async (cloud) => {
    const response = await fetch(`${cloud.url}/compute/v2.1/flavors`, { headers: { 'X-Auth-Token': cloud.token() } });
    if (response.status !== 200) throw new Error(`the first response was ${response.status}`);
    await response.arrayBuffer();
  };
  await Promise.all(clouds.map(first));
  globalThis.gc?.();
  const growth = process.memoryUsage.rss() - before;
  await Promise.all(clouds.map((cloud) => cloud.stop()));
  return growth;
}

/**
 * The Node options with which the installed server is measured alternately, by their names in the rows. Comments in
 * documents quote these names, and must not contain two hyphens.
 */
const VARIANTS = {
  '': [],
  ', max-semi-space-size=16': ['--max-semi-space-size=16'],
};

async function servers({ servers: count, rounds, runs, requests }) {
  // Imported after the clouds are measured: loading these modules leaves free memory that the clouds would otherwise
  // reuse.
  const { serverMemory } = await import('./server-memory.mjs');
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-memory-'));
  try {
    const database = join(folder, 'servers.db');
    const first = await startServer(database);
    await first.populate({ count, owners: [{ projectId: 'demo', userId: 'admin' }] });
    await first.stop();
    const main = installProgram('server', join(folder, 'installed'));
    const measures = Object.values(VARIANTS).map(
      (flags) => () => serverMemory(database, { main, flags, rounds, requests }),
    );
    const samples = await interleaved(runs, ...measures);
    const amount = Object.values(requests).reduce((sum, each) => sum + each, 0) * rounds;
    return Object.keys(VARIANTS).flatMap((flags, index) => {
      const of = (name) => samples[index].map((sample) => sample[name] / MIB);
      const what = `memory of the reference server with ${count.toLocaleString('en')} servers${flags}`;
      return [
        { what: `${what}, idle`, ours: of('idle'), unit: 'MiB' },
        {
          what: `${what}, after ${amount.toLocaleString('en')} reads`,
          ours: of('loaded'),
          unit: 'MiB',
          budget: '<= 200',
        },
      ];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function run({ quick }) {
  const amounts = quick ? QUICK : FULL;
  const { clouds } = amounts;
  // Measured first, because other measurements would add memory to the process.
  const memory = (await memoryOfManyClouds(clouds)) / MIB;
  return [
    { what: `${clouds} clouds at once, memory of all`, ours: memory, unit: 'MiB', budget: quick ? '' : '<= 200' },
    { what: `${clouds} clouds at once, memory of each`, ours: memory / clouds, unit: 'MiB' },
    ...(await servers(amounts)),
  ];
}
