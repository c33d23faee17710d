// What those who look on cost a request: with nobody there, with metrics, and with traces whose SDK is not loaded.
// Processor time of the whole process, client included, so that the part of the request itself is rather larger.
import { createServer } from 'node:http';
import { createEngine } from '@apistrata/compute-engine';
import { computeApi, noauth } from '@apistrata/compute-router';
import { openTelemetry } from '@apistrata/compute-router/opentelemetry';
import { prometheusMetrics } from '@apistrata/compute-router/prometheus';

const REQUESTS = 1500;
const ROUNDS = 5;
const SKIPPED = 5_000_000;

/** Places in a request on flavors at which an observer would be told: stages, its end, statements, connections. */
const PLACES = 20;

async function serving(observers = {}) {
  const engine = await createEngine({ observer: observers.engine });
  const server = createServer(computeApi({ engine, identity: noauth(), observer: observers.api }));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/v2.1/flavors/1`;
  const headers = { 'X-Auth-Token': 'ada:demo' };
  return {
    microseconds: async () => {
      const before = process.cpuUsage();
      for (let i = 0; i < REQUESTS; i++) await (await fetch(url, { headers })).arrayBuffer();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / REQUESTS;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await engine.close();
    },
  };
}

/** Microseconds of asking, at every place, for an observer that is not there. */
function skipping() {
  const places = Array.from({ length: PLACES }, () => undefined);
  let heard = 0;
  const begun = performance.now();
  for (let i = 0; i < SKIPPED; i++) if (places[i % PLACES]?.pass('run')) heard++;
  const ms = performance.now() - begun;
  if (heard > 0) throw new Error('somebody was there');
  return (ms * 1000 * PLACES) / SKIPPED;
}

const least = (numbers) => Math.min(...numbers);

export async function run() {
  const cases = {
    nobody: await serving(),
    metrics: await serving(prometheusMetrics()),
    traces: await serving(openTelemetry()),
  };
  const taken = { nobody: [], metrics: [], traces: [] };
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, { microseconds }] of Object.entries(cases)) {
      const found = await microseconds();
      // The first round warms up.
      if (round > 0) taken[name].push(found);
    }
  for (const { close } of Object.values(cases)) await close();
  const nobody = least(taken.nobody);
  const row = (what, ours, budget) => ({
    what,
    ours,
    baseline: nobody,
    unit: 'us of CPU',
    ratio: ours / nobody,
    budget,
  });
  return [
    row('nobody looks on: what is skipped, beside a request on a flavor', skipping(), '<= 0.03 x'),
    row('traces, no SDK loaded', least(taken.traces)),
    row('metrics', least(taken.metrics)),
  ];
}
