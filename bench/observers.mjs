// The cost of observers for a request: without observers, with metrics, and with traces whose SDK is not loaded.
// Measures the CPU time of one request without a network and without the client's part, each case in a separate
// process.
import { execFileSync } from 'node:child_process';
import { createEngine } from '@apistrata/compute-engine';
import { computeApi, noauth } from '@apistrata/compute-router';
import { openTelemetry } from '@apistrata/compute-router/opentelemetry';
import { prometheusMetrics } from '@apistrata/compute-router/prometheus';
import { requestUs, responseTo } from './exchange.mjs';
import { interleaved } from './samples.mjs';

const FULL = { repeats: 5, rounds: 5, warmUpRounds: 4, requests: 500 };
const QUICK = { repeats: 1, rounds: 2, warmUpRounds: 1, requests: 50 };
const SKIPPED = 5_000_000;

/** The number of observer calls in a flavor request: for stages, statements, connections and the end of the request. */
const OBSERVER_CALLS = 20;

const observers = { none: () => ({}), traces: openTelemetry, metrics: prometheusMetrics };

const request = { url: '/v2.1/flavors/1', headers: { host: 'localhost', 'x-auth-token': 'ada:demo' } };

async function measure(name, extent) {
  const { engine: ofEngine, api } = observers[name]();
  const engine = await createEngine({ observer: ofEngine });
  const listener = computeApi({ engine, identity: noauth(), observer: api });
  const { status, body } = await responseTo(listener, request);
  if (status !== 200) throw new Error(body);
  const found = await requestUs(listener, request, extent);
  await engine.close();
  return found;
}

function measureInProcess(...args) {
  return Number(execFileSync(process.execPath, [import.meta.filename, 'measure', ...args]));
}

/** Returns the microseconds that one request spends on checking, at all notification points, for a missing observer. */
function skippedCheckUs() {
  const places = Array.from({ length: OBSERVER_CALLS }, () => undefined);
  let notified = 0;
  const begun = performance.now();
  for (let i = 0; i < SKIPPED; i++) if (places[i % OBSERVER_CALLS]?.pass('run')) notified++;
  const ms = performance.now() - begun;
  if (notified > 0) throw new Error('an observer was notified');
  return (ms * 1000 * OBSERVER_CALLS) / SKIPPED;
}

export async function run({ quick }) {
  const extent = quick ? 'quick' : 'full';
  const measures = Object.keys(observers).map((name) => () => measureInProcess(name, extent));
  const [baseline, traces, metrics] = await interleaved((quick ? QUICK : FULL).repeats, ...measures);
  const unit = 'us of CPU';
  return [
    {
      what: 'traces off: skipped work, compared with a request for a flavor',
      ours: skippedCheckUs(),
      baseline,
      unit,
      budget: '<= 0.03 x',
    },
    { what: 'traces on, no SDK loaded, no listener', ours: traces, baseline, unit },
    { what: 'metrics on, no listener', ours: metrics, baseline, unit },
  ];
}

const [, program, command, name, extent] = process.argv;
if (program === import.meta.filename && command === 'measure')
  console.log(await measure(name, extent === 'quick' ? QUICK : FULL));
