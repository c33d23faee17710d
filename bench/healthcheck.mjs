// What a health answer costs beside a bare Express route, over real connections, and what the filter costs a request to
// any other path, without a network. Both sides of a row are measured in turns, in one run.
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { healthcheck } from '@apistrata/healthcheck';
import autocannon from 'autocannon';
import express from 'express';

const ROUNDS = 5;
const ROUND_S = 2;
const WARM_UP_S = 1;
const CONNECTIONS = 20;
const CALLS = 200_000;

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

/** An application with one more middleware, listening. */
async function listen(use) {
  const app = express();
  use(app);
  const server = createServer(app);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}/healthcheck` };
}

async function requestsPerSecond(url, duration) {
  const { requests, non2xx, errors } = await autocannon({ url, connections: CONNECTIONS, duration });
  if (non2xx + errors > 0) throw new Error(`${non2xx} answers were not 2xx, ${errors} requests failed`);
  return requests.average;
}

const send = (body) => (_req, res) => res.type('text/plain').send(body);

/** The least that Express can do: no ETag, no look at the request's freshness. */
const end = (body) => (_req, res) => {
  res.writeHead(200, { 'Content-Type': 'text/plain; charset=UTF-8', 'Content-Length': body.length });
  res.end(body);
};

/** Requests per second of a health endpoint and of a bare route that sends the same bytes, in turns. */
async function compareAnswers(health, route) {
  const bare = await listen((app) => app.get('/healthcheck', route));
  const ours = await listen((app) => app.use(health));
  const figures = { bare: [], ours: [] };
  await requestsPerSecond(bare.url, WARM_UP_S);
  await requestsPerSecond(ours.url, WARM_UP_S);
  for (let round = 0; round < ROUNDS; round++) {
    figures.bare.push(await requestsPerSecond(bare.url, ROUND_S));
    figures.ours.push(await requestsPerSecond(ours.url, ROUND_S));
  }
  for (const { server } of [bare, ours]) {
    server.closeAllConnections();
    server.close();
  }
  return { baseline: median(figures.bare), ours: median(figures.ours) };
}

/** Microseconds that the filter adds to a request which is not for it. */
function filterUs(health, url) {
  const req = new IncomingMessage(new Writable());
  req.url = url;
  req.method = 'GET';
  const res = new ServerResponse(req);
  let handedOn = 0;
  const next = () => void handedOn++;
  const time = (call) => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < CALLS; i++) call();
    return Number(process.hrtime.bigint() - start) / 1000 / CALLS;
  };
  const bare = [];
  const ours = [];
  for (let round = 0; round < ROUNDS + 2; round++) {
    bare.push(time(next));
    ours.push(time(() => health(req, res, next)));
  }
  if (handedOn !== 2 * CALLS * (ROUNDS + 2)) throw new Error('the filter answered a request that is not for it');
  return { baseline: median(bare), ours: median(ours) };
}

/** Requests per second of a route that awaits ten times, without a detailed endpoint in the process and with one. */
async function compareAwaits(options) {
  const { server, url } = await listen((app) =>
    app.get('/healthcheck', async (_req, res) => {
      for (let turn = 0; turn < 10; turn++) await Promise.resolve(turn);
      res.end('OK');
    }),
  );
  const figures = { bare: [], ours: [] };
  await requestsPerSecond(url, WARM_UP_S);
  for (let round = 0; round < ROUNDS; round++) {
    figures.bare.push(await requestsPerSecond(url, ROUND_S));
    const health = healthcheck({ detailed: true, ...options });
    figures.ours.push(await requestsPerSecond(url, ROUND_S));
    health.close();
  }
  server.closeAllConnections();
  server.close();
  return { baseline: median(figures.bare), ours: median(figures.ours) };
}

/** Rows: `ours` and `baseline` in the row's unit; `ratio` is the one by the other. */
export async function run() {
  const absent = join(tmpdir(), `apistrata-bench-absent-${process.pid}`);
  const check = () => ({ state: 'available' });
  const cached = healthcheck({ backends: [{ name: 'a', check, cacheMs: 1000 }] });
  const file = healthcheck({ backends: ['disable_by_file'], disableByFilePath: absent });
  const answers = [
    ['an answer without checks, beside res.send()', healthcheck(), send(''), '>= 0.9 x a bare route'],
    ['an answer without checks, beside res.end()', healthcheck(), end(''), '>= 0.9 x a bare route'],
    ['an answer with a cached check', cached, send('OK'), ''],
    ['an answer with a check that runs', healthcheck({ backends: [{ name: 'a', check }] }), send('OK'), ''],
    ['an answer with a file', file, send('OK'), ''],
  ];
  const rows = [];
  for (const [what, health, route, budget] of answers) {
    rows.push(row(what, await compareAnswers(health, route), 'requests/s', budget, 0));
  }
  const groups = { live: { backends: [] }, ready: { backends: [] }, startup: { backends: [] } };
  const filters = [
    ['another path through the filter', healthcheck(), '/v2.1/servers/detail?limit=100', '<= 1 us'],
    ['the same, with groups', healthcheck({ groups }), '/v2.1/servers/detail?limit=100', '<= 1 us'],
    ['the same, percent-encoded', healthcheck(), '/v2.1/servers/a%20b/metadata/caf%C3%A9', '<= 1 us'],
  ];
  for (const [what, health, url, budget] of filters) rows.push(row(what, filterUs(health, url), 'us', budget, 3));
  const details = [
    ['a route with ten awaits while an endpoint is detailed', {}, '>= 0.95 x without'],
    ['the same with followResources, without promises', { followResources: true, detailedPromises: false }, ''],
    ['the same with followResources', { followResources: true }, ''],
  ];
  for (const [what, options, budget] of details) {
    rows.push(row(what, await compareAwaits(options), 'requests/s', budget, 0));
  }
  return rows;
}

function row(what, { ours, baseline }, unit, budget, digits) {
  const ratio = +(ours / baseline).toFixed(2);
  return { what, ours: +ours.toFixed(digits), baseline: +baseline.toFixed(digits), ratio, unit, budget };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.table(await run());
  process.exit(0);
}
