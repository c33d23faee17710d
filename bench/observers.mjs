// What those who look on cost a request: with nobody there, with metrics, and with traces whose SDK is not loaded.
// Processor time of the whole process, client included, so that the part of the request itself is rather larger.
import { createServer } from 'node:http';
import { createEngine } from '@apistrata/compute-engine';
import { computeApi, noauth } from '@apistrata/compute-router';
import { openTelemetry } from '@apistrata/compute-router/opentelemetry';
import { prometheusMetrics } from '@apistrata/compute-router/prometheus';
import { inTurns } from './samples.mjs';

const FULL = { requests: 1000, rounds: 7 };
const QUICK = { requests: 50, rounds: 2 };
const SKIPPED = 5_000_000;

/** Places in a request on flavors at which an observer would be told: stages, its end, statements, connections. */
const PLACES = 20;

async function serving(requests, observers = {}) {
  const engine = await createEngine({ observer: observers.engine });
  const server = createServer(computeApi({ engine, identity: noauth(), observer: observers.api }));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/v2.1/flavors/1`;
  const headers = { 'X-Auth-Token': 'ada:demo' };
  return {
    microseconds: async () => {
      const before = process.cpuUsage();
      for (let i = 0; i < requests; i++) await (await fetch(url, { headers })).arrayBuffer();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / requests;
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

export async function run({ quick }) {
  const { requests, rounds } = quick ? QUICK : FULL;
  const cases = [
    await serving(requests),
    await serving(requests, openTelemetry()),
    await serving(requests, prometheusMetrics()),
  ];
  const measures = cases.map(({ microseconds }) => microseconds);
  // One round warms up.
  await inTurns(1, ...measures);
  const [baseline, traces, metrics] = await inTurns(rounds, ...measures);
  for (const { close } of cases) await close();
  const what = 'nobody looks on: what is skipped, beside a request on a flavor';
  const unit = 'us of CPU';
  return [
    { what, ours: skipping(), baseline, unit, budget: '<= 0.03 x' },
    { what: 'traces, no SDK loaded', ours: traces, baseline, unit },
    { what: 'metrics', ours: metrics, baseline, unit },
  ];
}
