// The cost of a health response compared with a bare Express route, over real connections, and the cost of the filter
// for requests to other paths, without a network. Both sides of a row are measured alternately, in one run.
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { healthcheck } from '@apistrata/healthcheck';
import express from 'express';
import { requestsPerSecond } from './load.mjs';
import { interleaved } from './samples.mjs';

const FULL = { rounds: 5, seconds: 0.5, calls: 200_000 };
const QUICK = { rounds: 2, seconds: 0.2, calls: 20_000 };
const CONNECTIONS = 20;
/** Why `trackResources` misses its budget. */
const TRACKED = 'takes a stack trace for each resource and each promise';

/** Starts an application with one additional middleware. */
async function listen(use) {
  const app = express();
  use(app);
  const server = createServer(app);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}/healthcheck` };
}

const rate = (url, seconds) => requestsPerSecond(url, seconds, { connections: CONNECTIONS });

const send = (body) => (_req, res) => res.type('text/plain').send(body);

/** Sends a response with the least work that Express can do: no ETag, and no check of the request's freshness. */
const end = (body) => (_req, res) => {
  res.writeHead(200, { 'Content-Type': 'text/plain; charset=UTF-8', 'Content-Length': body.length });
  res.end(body);
};

/**
 * Returns the requests per second of a health endpoint and of a bare route that sends the same bytes, measured
 * alternately.
 */
async function compareResponses(health, route, { rounds, seconds }) {
  const bare = await listen((app) => app.get('/healthcheck', route));
  const ours = await listen((app) => app.use(health));
  for (const { url } of [bare, ours]) await rate(url, seconds);
  const samples = await interleaved(
    rounds,
    () => rate(ours.url, seconds),
    () => rate(bare.url, seconds),
  );
  for (const { server } of [bare, ours]) {
    server.closeAllConnections();
    server.close();
  }
  return samples;
}

/** Returns how long the middleware takes to pass on a request for another path, and how long `next` takes, in µs. */
async function compareFilter(health, url, { rounds, calls }) {
  const req = new IncomingMessage(new Writable());
  req.url = url;
  req.method = 'GET';
  const res = new ServerResponse(req);
  let passedOn = 0;
  const next = () => void passedOn++;
  const time = (call) => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < calls; i++) call();
    return Number(process.hrtime.bigint() - start) / 1000 / calls;
  };
  const measures = [() => time(() => health(req, res, next)), () => time(next)];
  // Two warm-up rounds for the JIT compiler.
  await interleaved(2, ...measures);
  const samples = await interleaved(rounds, ...measures);
  if (passedOn !== 2 * calls * (rounds + 2)) throw new Error('the filter responded to a request that is not for it');
  return samples;
}

/** Requests per second of a route that awaits ten times, without a detailed endpoint in the process and with one. */
async function compareAwaits(options, { rounds, seconds }) {
  const { server, url } = await listen((app) =>
    app.get('/healthcheck', async (_req, res) => {
      for (let turn = 0; turn < 10; turn++) await Promise.resolve(turn);
      res.end('OK');
    }),
  );
  await rate(url, seconds);
  const detailed = async () => {
    const health = healthcheck({ detailed: true, ...options });
    const found = await rate(url, seconds);
    health.close();
    return found;
  };
  const samples = await interleaved(rounds, detailed, () => rate(url, seconds));
  server.closeAllConnections();
  server.close();
  return samples;
}

export async function run({ quick }) {
  const amounts = quick ? QUICK : FULL;
  const absent = join(tmpdir(), `apistrata-bench-absent-${process.pid}`);
  const check = () => ({ state: 'available' });
  const cached = healthcheck({ backends: [{ name: 'a', check, cacheMs: 1000 }] });
  const file = healthcheck({ backends: ['disable_by_file'], disableByFilePath: absent });
  const bodies = [
    ['a response without checks, next to res.send()', healthcheck(), send(''), '>= 0.9 x a bare route'],
    ['a response without checks, next to res.end()', healthcheck(), end(''), '>= 0.9 x a bare route'],
    ['a response with a cached check', cached, send('OK'), ''],
    ['a response with a check that runs', healthcheck({ backends: [{ name: 'a', check }] }), send('OK'), ''],
    ['a response with a file', file, send('OK'), ''],
  ];
  const rows = [];
  for (const [what, health, route, budget] of bodies) {
    rows.push(row(what, await compareResponses(health, route, amounts), 'requests/s', budget));
  }
  const groups = { live: { backends: [] }, ready: { backends: [] }, startup: { backends: [] } };
  const filters = [
    [
      'a request for another path, passed on by the middleware',
      healthcheck(),
      '/v2.1/servers/detail?limit=100',
      '<= 1 us',
    ],
    ['the same, with groups', healthcheck({ groups }), '/v2.1/servers/detail?limit=100', '<= 1 us'],
    ['the same, percent-encoded', healthcheck(), '/v2.1/servers/a%20b/metadata/caf%C3%A9', '<= 1 us'],
  ];
  for (const [what, health, url, budget] of filters)
    rows.push(row(what, await compareFilter(health, url, amounts), 'us', budget));
  const details = [
    ['a route with ten awaits, with a detailed endpoint', {}, '>= 0.95 x without'],
    ['a route with ten awaits, trackResources without promises', { trackResources: true, trackPromises: false }, ''],
    ['a route with ten awaits, trackResources', { trackResources: true }, '>= 0.14 x', TRACKED],
  ];
  for (const [what, options, budget, reason] of details) {
    rows.push(row(what, await compareAwaits(options, amounts), 'requests/s', budget, reason));
  }
  return rows;
}

const row = (what, [ours, baseline], unit, budget, reason) => ({ what, ours, baseline, unit, budget, reason });
