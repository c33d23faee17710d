// The cost of @apistrata/microversion-router compared with find-my-way, which it uses, and with Fastify with the
// same schemas: CPU time of one request, without a network. The router also negotiates the version of each
// request, and selects the operation of that version.
//
// Each measurement has a separate process, so that none is affected by optimizations for another.
import { execFileSync } from 'node:child_process';
import { negotiator, since } from '@apistrata/microversion';
import { createRouter, field, operationsOf, view } from '@apistrata/microversion-router';
import fastify from 'fastify';
import findMyWay from 'find-my-way';
import { z } from 'zod';
import { requestUs, responseTo } from './exchange.mjs';
import { interleaved } from './samples.mjs';

const FULL = { repeats: 5, rounds: 7, warmUpRounds: 3, requests: 4_000 };
const QUICK = { repeats: 1, rounds: 2, warmUpRounds: 1, requests: 200 };

/** The number of resources in a typical API; each has five operations. */
const RESOURCES = [
  'servers',
  'flavors',
  'images',
  'keypairs',
  'volumes',
  'networks',
  'ports',
  'groups',
  'hosts',
  'zones',
];
const VERSION = '2.53';

const record = {
  id: '9e6c1b1a-6f0c-4a6b-8a39-0c8d7f3c2b11',
  name: 'web-1',
  status: 'ACTIVE',
  ram: 2048,
  disk: 20,
  locked: false,
  description: null,
  secret: 'not for anybody',
};
const newRecord = { name: 'web-1', ram: 2048, disk: 20, tags: ['a', 'b'] };

const body = z.strictObject({
  thing: z.strictObject({
    name: z.string().min(1).max(255),
    ram: z.int().min(1),
    disk: z.int().min(0),
    tags: z.array(z.string().max(60)).max(50).optional(),
  }),
});
const shown = {
  id: z.uuid(),
  name: z.string(),
  status: z.string(),
  ram: z.int(),
  disk: z.int(),
  locked: z.boolean(),
  description: z.string().nullable(),
};

async function ours() {
  const thing = view({
    ...Object.fromEntries(Object.entries(shown).map(([name, schema]) => [name, field(schema, (one) => one[name])])),
    locked: since(
      '2.9',
      field(shown.locked, (one) => one.locked),
    ),
    description: since(
      '2.19',
      field(shown.description, (one) => one.description),
    ),
  });
  const operation = operationsOf();
  const operations = RESOURCES.flatMap((name) => [
    operation({ method: 'GET', path: `/${name}`, summary: 'List', status: 200, run: () => ({}) }),
    operation({
      method: 'GET',
      path: `/${name}/{id}`,
      summary: 'Show',
      status: 200,
      reply: { thing },
      run: () => ({ thing: record }),
    }),
    operation({
      method: 'POST',
      path: `/${name}`,
      summary: 'Make',
      status: 202,
      body,
      reply: { thing },
      run: () => ({ thing: record }),
    }),
    operation({ method: 'PUT', path: `/${name}/{id}`, summary: 'Change', status: 200, body, run: () => ({}) }),
    operation({ method: 'DELETE', path: `/${name}/{id}`, summary: 'Delete', status: 204, run: () => undefined }),
  ]);
  return createRouter({
    operations,
    call: () => ({}),
    negotiate: negotiator({ service: 'compute', min: '2.1', max: '2.100' }).apply,
    fault: (error, _req, res) => void res.writeHead(error.status ?? 500).end(String(error)),
  });
}

/** Returns five routes for each resource: method, path and handler. */
function routes(show, make) {
  const nothing = (_req, res) => res.end();
  return RESOURCES.flatMap((name) => [
    ['GET', `/${name}`, nothing],
    ['GET', `/${name}/:id`, show],
    ['POST', `/${name}`, make],
    ['PUT', `/${name}/:id`, nothing],
    ['DELETE', `/${name}/:id`, nothing],
  ]);
}

async function createFindMyWay() {
  const router = findMyWay();
  const { secret, ...thing } = record;
  const sendJson = (res, status) => {
    const text = JSON.stringify({ thing });
    res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text);
  };
  const make = (req, res) => {
    const chunks = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString());
      sendJson(res, 202);
    });
  };
  const show = (_req, res) => sendJson(res, 200);
  for (const [method, path, handler] of routes(show, make)) router.on(method, path, handler);
  return (req, res) => router.lookup(req, res);
}

async function createFastify() {
  const app = fastify();
  const jsonSchema = (schema) => {
    const { $schema, ...rest } = z.toJSONSchema(schema);
    return rest;
  };
  const reply = jsonSchema(z.strictObject({ thing: z.strictObject(shown) }));
  const schemas = { POST: { body: jsonSchema(body), response: { 202: reply } }, GET: { response: { 200: reply } } };
  const show = async () => ({ thing: record });
  const make = async (_request, response) => {
    response.code(202);
    return { thing: record };
  };
  for (const [method, url, handler] of routes(show, make)) {
    const schema = handler === show || handler === make ? schemas[method] : undefined;
    app.route({ method, url, schema, handler });
  }
  await app.ready();
  return app.routing;
}

const subjects = { ours, 'find-my-way': createFindMyWay, Fastify: createFastify };

const text = JSON.stringify({ thing: newRecord });
const version = { host: 'localhost', 'service-api-version': `compute ${VERSION}` };
const requests = {
  'a GET of one resource': { url: `/networks/${record.id}`, headers: version },
  'a POST with validation': {
    method: 'POST',
    url: '/networks',
    headers: { ...version, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) },
    body: text,
  },
};

function measureInProcess(...args) {
  return Number(execFileSync(process.execPath, [import.meta.filename, 'measure', ...args]));
}

/** Checks that all candidates send the same response. */
async function checkResponses(request) {
  const { secret, ...thing } = record;
  for (const [name, make] of Object.entries(subjects)) {
    const { status, body: response } = await responseTo(await make(), request);
    if (status !== (request.body ? 202 : 200) || response !== JSON.stringify({ thing }))
      throw new Error(`${name} returned ${status} ${response}`);
  }
}

export async function run({ quick }) {
  const rows = [];
  for (const [what, request] of Object.entries(requests)) {
    await checkResponses(request);
    const names = Object.keys(subjects);
    const measures = names.map((name) => () => measureInProcess(what, name, quick ? 'quick' : 'full'));
    const [samples, ...others] = await interleaved((quick ? QUICK : FULL).repeats, ...measures);
    for (const [index, baseline] of others.entries())
      rows.push({ what: `${what}, and by ${names[index + 1]}`, ours: samples, baseline, unit: 'us of CPU' });
  }
  return rows;
}

const [, program, command, what, name, extent] = process.argv;
if (program === import.meta.filename && command === 'measure')
  console.log(await requestUs(await subjects[name](), requests[what], extent === 'quick' ? QUICK : FULL));
