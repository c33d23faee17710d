// Steps that a separate host process executes: the latency that the round trip through PostgreSQL adds to a step, and
// the throughput; and creates whose machines a host process runs. All processes and the database share this machine.
import { spawn } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { createEngine, defaultPreset } from '@apistrata/compute-engine';
import { noMachines } from '@apistrata/compute-engine/drivers';
import { coreOf } from '@apistrata/compute-engine/testing';
import { creation } from './creation.mjs';
import { interleaved, median } from './samples.mjs';
import { SECRET_KEY, startServer } from './server-process.mjs';
import { durablePostgres } from './test-servers.mjs';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const FULL = { rounds: 5, oneByOne: 60, seconds: 1, creates: 1600 };
const QUICK = { rounds: 2, oneByOne: 10, seconds: 0.5, creates: 100 };
const CONCURRENCY = 128;

async function measure(machines, server, { rounds, oneByOne, seconds }) {
  const origin = { action: 'bench', requestId: 'req-bench' };
  const order = { work: { verb: 'power_on' }, server, origin };
  const { signal } = new AbortController();
  setMaxListeners(CONCURRENCY, signal);
  const step = () => machines.perform(order, signal);
  for (let i = 0; i < 50; i++) await step();
  const alone = async () => {
    const times = [];
    for (let i = 0; i < oneByOne; i++) {
      const begun = performance.now();
      await step();
      times.push(performance.now() - begun);
    }
    return median(times);
  };
  const together = async () => {
    let steps = 0;
    const end = performance.now() + seconds * 1000;
    const runSteps = async () => {
      for (; performance.now() < end; steps++) await step();
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, runSteps));
    return steps / seconds;
  };
  return interleaved(rounds, alone, together);
}

/** Measures steps that the engine of this process hands over to a host. */
async function stepsOn(database, amounts) {
  const engine = await createEngine({ database, driver: noMachines(), preset: { ...defaultPreset, hosts: [] } });
  try {
    const caller = { userId: 'ada', projectId: 'demo', roles: ['admin'], isAdmin: true };
    const context = { caller, requestId: 'req-bench', isAdmin: true };
    const request = { name: 'web', flavorId: '1', imageId: IMAGE, networks: 'none' };
    const { servers } = await engine.servers.create(context, request);
    await engine.idle();
    const server = await engine.servers.get(context, servers[0].id);
    const [ms, perSecond] = await measure(coreOf(engine).machines, server, amounts);
    return [
      {
        what: 'a step handed over to a host and back, median',
        ours: ms,
        unit: 'ms',
        budget: '<= 5 ms',
        reason: 'the request and its response are separate transactions on PostgreSQL',
      },
      { what: `steps handed over, ${CONCURRENCY} at once`, ours: perSecond, unit: 'steps/s', budget: '>= 500' },
    ];
  } finally {
    await engine.close();
  }
}

/** Measures creates by an API process without machines. */
async function createsOn(database, { creates }) {
  const api = await startServer(database, { driver: 'none', hosts: [] });
  try {
    return await creation(api, 'PostgreSQL, a host process', creates);
  } finally {
    await api.stop();
  }
}

export async function run({ quick }) {
  const amounts = quick ? QUICK : FULL;
  const postgres = await durablePostgres();
  if (!postgres) return [{ what: 'steps handed over to a host', unit: 'skipped: this machine has no PostgreSQL' }];
  process.env.APISTRATA_SECRET_KEY = SECRET_KEY;
  // The schema of an empty database exists before the host process uses it.
  const first = await createEngine({
    database: postgres.url,
    driver: noMachines(),
    preset: { ...defaultPreset, hosts: [] },
  });
  await first.close();
  const host = spawn(process.execPath, [join(import.meta.dirname, 'hosts.worker.mjs'), postgres.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(host.stdout, 'data');
    const steps = await stepsOn(postgres.url, amounts);
    return [postgres.settings, ...steps, ...(await createsOn(postgres.url, amounts))];
  } finally {
    host.kill('SIGKILL');
    await postgres.stop();
  }
}
