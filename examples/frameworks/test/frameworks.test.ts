import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:http2';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as healthcheck from '@apistrata/healthcheck';
import * as healthcheckNest from '@apistrata/healthcheck/nestjs';
import * as microversion from '@apistrata/microversion';
import * as microversionNest from '@apistrata/microversion/nestjs';
import * as quota from '@apistrata/quota';
import * as quotaNest from '@apistrata/quota/nestjs';
import * as requestIdNest from '@apistrata/request-id/nestjs';
import ts from 'typescript';
import { describe, expect, it, onTestFinished } from 'vitest';

const src = join(import.meta.dirname, '../src');
const read = (file: string) => readFileSync(join(src, file), 'utf8');
const page = readFileSync(join(import.meta.dirname, '../../../docs/guides/frameworks.md'), 'utf8');

/** The modules of this repository that the NestJS example requires, loaded from their sources. */
const OUR_MODULES: Readonly<Record<string, unknown>> = {
  '@apistrata/healthcheck': healthcheck,
  '@apistrata/healthcheck/nestjs': healthcheckNest,
  '@apistrata/microversion': microversion,
  '@apistrata/microversion/nestjs': microversionNest,
  '@apistrata/quota': quota,
  '@apistrata/quota/nestjs': quotaNest,
  '@apistrata/request-id/nestjs': requestIdNest,
};

/** Starts the NestJS example, compiled with TypeScript's legacy decorators, which other tools do not support. */
async function startNest(source = read('nest.ts')): Promise<Server> {
  const compilerOptions = {
    module: ts.ModuleKind.CommonJS,
    target: ts.ScriptTarget.ES2022,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
  };
  const { outputText } = ts.transpileModule(source, { compilerOptions });
  const require = createRequire(import.meta.url);
  const exports: { server?: Promise<Server> } = {};
  new Function('require', 'exports', outputText)((id: string) => OUR_MODULES[id] ?? require(id), exports);
  return (await exports.server) as Server;
}

function startNestOnFastify(): Promise<Server> {
  const adapter = "new (require('@nestjs/platform-fastify').FastifyAdapter)()";
  return startNest(
    read('nest.ts').replace('NestFactory.create(AppModule,', `NestFactory.create(AppModule, ${adapter},`),
  );
}

const load = async (file: string): Promise<Server> =>
  ((await import(/* @vite-ignore */ join(src, file))) as { server: Server }).server;

const EXAMPLES: Readonly<Record<string, () => Promise<Server>>> = {
  'express.mjs': () => load('express.mjs'),
  'fastify.mjs': () => load('fastify.mjs'),
  'koa.mjs': () => load('koa.mjs'),
  'hono.mjs': () => load('hono.mjs'),
  'nest.ts': startNest,
  'nest.ts with FastifyAdapter': startNestOnFastify,
  'node-http.mjs': () => load('node-http.mjs'),
};

/** Waits until a server listens, and closes the server at the end of the test. */
async function portOf(server: Server): Promise<number> {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe.each(Object.entries(EXAMPLES))('the example %s', (name, start) => {
  const [file = ''] = name.split(' ');

  it('is identical to the code on the page', () => {
    expect(page.includes(`\`\`\`${file.endsWith('.ts') ? 'ts' : 'js'}\n${read(file)}\`\`\``)).toBe(true);
  });

  it('has request ids, a health endpoint, versions and a quota', async () => {
    process.env.PORT = '0';
    const port = await portOf(await start());
    const send = async (path: string, method = 'GET', headers: Record<string, string> = {}) => {
      const all = { connection: 'close', 'X-Account': 'acme', ...headers };
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers: all });
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    const create = () => send('/notes', 'POST', { 'X-Request-Id': 'order-4711' });

    expect((await send('/healthcheck')).status).toBe(200);
    const created = await create();
    expect([created.status, created.headers.get('x-request-id'), JSON.parse(created.text)]).toEqual([
      201,
      'order-4711',
      { id: '1', by: 'order-4711' },
    ]);
    const old = await send('/notes');
    expect([old.text, old.headers.get('api-version')]).toEqual(['["1"]', '2025-03-01']);
    const current = await send('/notes', 'GET', { 'API-Version': '2026-11-22' });
    expect(JSON.parse(current.text)).toEqual({ notes: [{ id: '1', by: 'order-4711' }] });
    const unknown = await send('/notes', 'GET', { 'API-Version': '2020-01-01' });
    expect([unknown.status, unknown.headers.get('content-type')]).toEqual([406, 'application/problem+json']);

    expect((await create()).status).toBe(201);
    const rejected = await create();
    expect([rejected.status, rejected.headers.get('content-type'), rejected.headers.get('ratelimit')]).toEqual([
      403,
      'application/problem+json',
      '"notes";r=0',
    ]);
    expect((await send('/notes/7', 'DELETE')).status).toBe(404);
    expect((await create()).status).toBe(403);
    expect((await send('/notes/1', 'DELETE')).status).toBe(204);
    expect((await create()).status).toBe(201);
  });
});

it('the example http2.mjs serves the same listener, and is on the page', async () => {
  expect(page.includes(`\`\`\`js\n${read('http2.mjs')}\`\`\``)).toBe(true);
  process.env.PORT = '0';
  process.env.HTTP2_PORT = '0';
  const client = connect(`http://127.0.0.1:${await portOf(await load('http2.mjs'))}`);
  onTestFinished(() => client.destroy());
  const send = (method: string, path: string) =>
    new Promise<unknown>((resolve, reject) => {
      const stream = client.request({ ':method': method, ':path': path, 'x-account': 'http2' });
      stream.once('response', (headers) => resolve([headers[':status'], headers['content-type']]));
      stream.once('error', reject);
      stream.resume().end();
    });
  expect(await send('GET', '/healthcheck')).toEqual([200, 'text/plain; charset=UTF-8']);
  const statuses: unknown[] = [];
  for (let i = 0; i < 3; i++) statuses.push(await send('POST', '/notes'));
  expect(statuses).toEqual([
    [201, 'application/json'],
    [201, 'application/json'],
    [403, 'application/problem+json'],
  ]);
});
