// What negotiation, request ids and a health filter cost on any request: the time of one request through a bare
// handler, with and without them, without a network. Heads are rendered in both cases. Processor time, not the clock:
// what else the machine does should not count.
//
// Each measurement has a process of its own. Asynchronous context, once used, slows down everything in its process: a
// baseline measured beside it would carry part of our cost and flatter us.
import { execFileSync } from 'node:child_process';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { healthcheck } from '@apistrata/healthcheck';
import { microversion } from '@apistrata/microversion';
import { requestId } from '@apistrata/request-id';

const BUDGET_US = 5;
const REQUESTS = 5_000;
const ROUNDS = 15;
const WARM_UP_ROUNDS = 5;
const REPEATS = 5;
const BODY = JSON.stringify({ flavor: { id: '1', name: 'm1.tiny', ram: 512 } });

const compute = { service: 'compute', min: '2.1', max: '2.100' };
const plain = { host: 'localhost' };
const asked = { host: 'localhost', 'service-api-version': 'compute 2.53' };
const threeIds = { headers: ['X-Compute-Request-ID', 'x-openstack-request-id', 'X-Service-Request-ID'] };

/** Middlewares are made on demand: making one must not change what a bare process measures. */
const cases = [
  { what: 'microversion, no version asked for', headers: plain, make: () => [microversion(compute)] },
  { what: 'microversion, 2.53 asked for', headers: asked, make: () => [microversion(compute)] },
  {
    what: 'microversion, both header families',
    headers: asked,
    make: () => [microversion({ ...compute, headers: 'both' })],
  },
  { what: 'request-id, one header', headers: asked, make: () => [requestId()] },
  { what: 'request-id, no async context', headers: asked, make: () => [requestId({ context: false })] },
  { what: 'request-id, three headers', headers: asked, make: () => [requestId(threeIds)] },
  { what: 'healthcheck, not hit', headers: asked, make: () => [healthcheck()] },
  {
    what: 'microversion + request-id + healthcheck (not hit)',
    headers: asked,
    make: () => [requestId(), healthcheck(), microversion(compute)],
    budget: true,
  },
  {
    what: 'the same, three id headers, both header families',
    headers: asked,
    make: () => [requestId(threeIds), healthcheck(), microversion({ ...compute, headers: 'both' })],
    budget: true,
  },
];

const sink = new Writable({ write: (_chunk, _encoding, done) => done() });

function exchange(headers) {
  const req = new IncomingMessage(sink);
  req.method = 'GET';
  req.url = '/v2.1/flavors/1';
  req.headers = headers;
  const res = new ServerResponse(req);
  res.assignSocket(sink);
  return [req, res];
}

// One await, as any handler that reads something: that is where asynchronous context costs.
async function handler(_req, res) {
  await undefined;
  res.setHeader('Content-Type', 'application/json');
  res.setHeader('Content-Length', BODY.length);
  res.end(BODY);
  res.detachSocket(sink);
}

function chain(middlewares) {
  return middlewares.reduceRight(
    (next, middleware) => (req, res) => middleware(req, res, () => next(req, res)),
    handler,
  );
}

async function roundUs(listener, headers) {
  const start = process.cpuUsage();
  for (let i = 0; i < REQUESTS; i++) {
    await listener(...exchange({ ...headers }));
    // Lets go of what streams put off to the next tick, as a server does between requests.
    if (i % 32 === 0) await nextTurn();
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / REQUESTS;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

async function measureUs({ headers, make }, withMiddlewares) {
  const listener = withMiddlewares ? chain(make()) : handler;
  for (let round = 0; round < WARM_UP_ROUNDS; round++) await roundUs(listener, headers);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await roundUs(listener, headers));
  return median(rounds);
}

function measureApart(index, mode) {
  return Number(execFileSync(process.execPath, [fileURLToPath(import.meta.url), 'measure', String(index), mode]));
}

/** Rows: `ours` is the time the middlewares add to a request, `baseline` the time of the bare handler alone. */
export async function run() {
  return cases.map(({ what, budget }, index) => {
    const pairs = Array.from({ length: REPEATS }, () => [measureApart(index, 'bare'), measureApart(index, 'ours')]);
    const baseline = median(pairs.map(([bare]) => bare));
    const ours = median(pairs.map(([bare, full]) => full - bare));
    return {
      what,
      ours: +ours.toFixed(2),
      baseline: +baseline.toFixed(2),
      ratio: +(ours / baseline).toFixed(2),
      unit: 'us per request, added',
      budget: budget ? `<= ${BUDGET_US} us` : '',
    };
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , command, index, mode] = process.argv;
  if (command === 'measure') console.log(await measureUs(cases[Number(index)], mode === 'ours'));
  else console.table(await run());
  process.exit(0);
}
