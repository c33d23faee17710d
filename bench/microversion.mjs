// The cost of version negotiation, request ids and a health filter: the time of one request through a bare handler,
// with and without these middlewares, measured without a network.
//
// Each measurement runs in a separate process. Asynchronous context, once used, slows down everything in its process: a
// baseline measured in the same process would include part of our cost.
import { execFileSync } from 'node:child_process';
import { healthcheck } from '@apistrata/healthcheck';
import { microversion } from '@apistrata/microversion';
import { requestId } from '@apistrata/request-id';
import { requestUs } from './exchange.mjs';
import { interleaved } from './samples.mjs';

const BUDGET_US = 5;
const FULL = { repeats: 5, rounds: 9, warmUpRounds: 4, requests: 5_000 };
const QUICK = { repeats: 2, rounds: 2, warmUpRounds: 1, requests: 500 };
const BODY = JSON.stringify({ flavor: { id: '1', name: 'm1.tiny', ram: 512 } });

const compute = { service: 'compute', min: '2.1', max: '2.100' };
const plain = { host: 'localhost' };
const versionHeaders = { host: 'localhost', 'service-api-version': 'compute 2.53' };
const threeIds = { headers: ['X-Compute-Request-ID', 'x-openstack-request-id', 'X-Service-Request-ID'] };

/** Middlewares are created on demand: creating one must not change what a bare process measures. */
const cases = [
  { what: 'microversion, no version requested', headers: plain, make: () => [microversion(compute)] },
  { what: 'microversion, 2.53 requested', headers: versionHeaders, make: () => [microversion(compute)] },
  {
    what: 'microversion, both header families',
    headers: versionHeaders,
    make: () => [microversion({ ...compute, headers: 'both' })],
  },
  { what: 'request-id, one header', headers: versionHeaders, make: () => [requestId()] },
  { what: 'request-id, no async context', headers: versionHeaders, make: () => [requestId({ context: false })] },
  { what: 'request-id, three headers', headers: versionHeaders, make: () => [requestId(threeIds)] },
  { what: 'healthcheck, not hit', headers: versionHeaders, make: () => [healthcheck()] },
  {
    what: 'microversion + request-id + healthcheck (not hit)',
    headers: versionHeaders,
    make: () => [requestId(), healthcheck(), microversion(compute)],
    budget: true,
  },
  {
    what: 'request-id (three headers) + healthcheck + microversion (both header families)',
    headers: versionHeaders,
    make: () => [requestId(threeIds), healthcheck(), microversion({ ...compute, headers: 'both' })],
    budget: true,
  },
];

// Awaits once, like any handler that reads data, because asynchronous context has a cost at each `await`.
async function handler(_req, res) {
  await undefined;
  res.setHeader('Content-Type', 'application/json');
  res.setHeader('Content-Length', BODY.length);
  res.end(BODY);
}

function chain(middlewares) {
  return middlewares.reduceRight(
    (next, middleware) => (req, res) => middleware(req, res, () => next(req, res)),
    handler,
  );
}

function measureInProcess(...args) {
  return Number(execFileSync(process.execPath, [import.meta.filename, 'measure', ...args]));
}

/**
 * Returns rows: `ours` is the time that the middlewares add to a request, `baseline` the time of the bare handler
 * alone. The baseline is measured once per round for all rows with the same headers.
 */
export async function run({ quick }) {
  const { repeats } = quick ? QUICK : FULL;
  const extent = quick ? 'quick' : 'full';
  const bare = [...new Set(cases.map(({ headers }) => headers))];
  const samples = await interleaved(
    repeats,
    ...cases.map((_, index) => () => measureInProcess(index, 'ours', extent)),
    ...bare.map(
      (headers) => () =>
        measureInProcess(
          cases.findIndex((each) => each.headers === headers),
          'bare',
          extent,
        ),
    ),
  );
  return cases.map(({ what, headers, budget }, index) => {
    const baseline = samples[cases.length + bare.indexOf(headers)];
    const ours = samples[index].map((sample, turn) => sample - baseline[turn]);
    return { what, ours, baseline, unit: 'us per request, added', budget: budget ? `<= ${BUDGET_US} us` : '' };
  });
}

const [, program, command, index, mode, extent] = process.argv;
if (program === import.meta.filename && command === 'measure') {
  const { headers, make } = cases[index];
  const listener = mode === 'ours' ? chain(make()) : handler;
  console.log(await requestUs(listener, { url: '/v2.1/flavors/1', headers }, extent === 'quick' ? QUICK : FULL));
}
