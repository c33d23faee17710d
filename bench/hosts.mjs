// Steps that are handed over to a host that is a process of its own: what the way through PostgreSQL and back adds to a step,
// and how many go that way in a second. Both processes and the database share this machine.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createEngine, defaultPreset } from '@apistrata/compute-engine';
import { noMachines } from '@apistrata/compute-engine/drivers';
import { coreOf } from '@apistrata/compute-engine/testing';
import { table } from './table.mjs';
import { testServers } from './test-servers.mjs';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const ONE_BY_ONE = 300;
const SECONDS = 5;
const AT_ONCE = 128;

async function measure(machines, server) {
  const origin = { action: 'bench', requestId: 'req-bench' };
  const order = { work: { verb: 'prepare', step: 'networking' }, server, origin };
  const { signal } = new AbortController();
  const step = () => machines.perform(order, signal);
  for (let i = 0; i < 50; i++) await step();
  const times = [];
  for (let i = 0; i < ONE_BY_ONE; i++) {
    const begun = performance.now();
    await step();
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  let steps = 0;
  const end = performance.now() + SECONDS * 1000;
  const walk = async () => {
    for (; performance.now() < end; steps++) await step();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, walk));
  return { median: times[ONE_BY_ONE / 2], perSecond: steps / SECONDS };
}

export async function run() {
  const { startPostgres } = await testServers();
  const postgres = await startPostgres();
  if (!postgres) return [{ what: 'steps handed over to a host', unit: 'skipped: this machine has no PostgreSQL' }];
  process.env.APISTRATA_SECRET_KEY ??= randomBytes(32).toString('base64');
  const preset = { ...defaultPreset, hosts: [] };
  const engine = await createEngine({ database: postgres.url, driver: noMachines(), preset });
  const host = spawn(process.execPath, [join(import.meta.dirname, 'hosts.worker.mjs'), postgres.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(host.stdout, 'data');
    const caller = { userId: 'ada', projectId: 'demo', roles: ['admin'], isAdmin: true };
    const context = { caller, requestId: 'req-bench', isAdmin: true };
    const wanted = { name: 'web', flavorId: '1', imageId: IMAGE, networks: 'none' };
    const { servers } = await engine.servers.create(context, wanted);
    await engine.idle();
    const server = await engine.servers.get(context, servers[0].id);
    const { median, perSecond } = await measure(coreOf(engine).machines, server);
    return [
      { what: 'a step handed over to a host and back, median', ours: median, unit: 'ms', budget: '<= 5 ms' },
      { what: `steps handed over, ${AT_ONCE} at once`, ours: perSecond, unit: 'steps/s', budget: '>= 500' },
    ];
  } finally {
    host.kill('SIGKILL');
    await engine.close();
    await postgres.stop();
  }
}

if (process.argv[1] === import.meta.filename) {
  console.log(table(await run()));
  process.exit(0);
}
