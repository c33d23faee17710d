import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { afterAll, describe, expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { reducedModules, reducedPaths } from '../scripts/reduced-modules.mjs';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'apistrata-reduced-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const express = join(root, 'packages/test-cloud/node_modules/express/index.js');
const findMyWay = join(root, 'packages/microversion-router/node_modules/find-my-way/index.js');
const zod = join(root, 'packages/microversion/node_modules/zod/index.js');
const recordStore = join(root, 'packages/record-store/src/index.ts');

/**
 * An application with every Express feature that our programs use; it also stores and validates values. It prints its
 * responses.
 */
const PROGRAM = `
import express from ${JSON.stringify(express)};
import findMyWay from ${JSON.stringify(findMyWay)};
import { z } from ${JSON.stringify(zod)};
import { createDocumentTable, defaultDatabaseSettings, openDatabase, openStore } from ${JSON.stringify(recordStore)};

const Name = z.compile(z.object({ name: z.string().max(3) }));
const { db } = openDatabase(':memory:', defaultDatabaseSettings);
await db.schema.createTable('names').addColumn('name', 'text').execute();
await db.schema.alterTable('names').addColumn('size', 'integer').execute();

const routes = findMyWay();
routes.on('GET', '/servers/:id', (_req, res, params) => res.end(params.id));

const app = express();
app.set('query parser', 'simple');
app.use(express.json({ strict: false }));
app.post('/', (req, res) => res.json([req.body, req.query, req.ip, req.protocol, req.is('application/json')]));
app.get('/text', (_req, res) => res.type('html').send('<p>ä'));
app.get('/accepts', (req, res) => res.json([req.accepts('json'), req.accepts('html')]));
app.get('/file', (_req, res) => res.set('Content-Type', 'application/octet-stream').json({}));
app.get('/fails', () => { throw Object.assign(new Error('failed'), { status: 409 }); });
app.get('/servers/:id', (req, res) => routes.lookup(req, res));

const server = app.listen(0, '127.0.0.1', async () => {
  const origin = 'http://127.0.0.1:' + server.address().port;
  const json = (type, body) => ['/?a=1&a=2', { method: 'POST', headers: { 'Content-Type': type }, body }];
  const requests = [
    json('application/json', '{"name":"ä"}'),
    json('application/json; charset=utf-8', '"text"'),
    json('application/json; charset=utf-16le', Buffer.from('[1]', 'utf16le')),
    json('application/json; charset=latin1', '{}'),
    json('application/json', '{'),
    ['/text'], ['/accepts', { headers: { accept: 'text/*' } }], ['/file'], ['/fails'], ['/servers/7'], ['/missing'],
  ];
  await db.insertInto('names').values({ name: 'a', size: 1 }).execute();
  const rows = await db.selectFrom('names').selectAll().execute();
  const validated = ['abc', 'abcd'].map((name) => Name.safeParse({ name }).success);
  const printed = [['stored', 200, rows, [typeof openStore, typeof createDocumentTable, ...validated]]];
  for (const [path, options] of requests) {
    const response = await fetch(origin + path, options);
    const headers = ['content-type', 'etag'].map((name) => response.headers.get(name));
    printed.push([path, response.status, headers, (await response.text()).replaceAll(/<br>.*|[^ ]*node_modules.*/g, '')]);
  }
  console.log(JSON.stringify(printed));
  server.close();
});
`;

async function bundleOf(name: string, ...plugins: readonly Plugin[]) {
  const input = join(folder, 'program.mjs');
  writeFileSync(input, PROGRAM);
  const bundle = await rolldown({
    input,
    platform: 'node',
    external: ['pg'],
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    plugins: [...plugins],
    logLevel: 'silent',
  });
  const file = join(folder, `${name}.mjs`);
  const { output } = await bundle.write({ file, format: 'esm' });
  await bundle.close();
  const responses = () =>
    JSON.parse(execFileSync(process.execPath, [file], { encoding: 'utf8', env: { ...process.env, NODE_ENV: 'test' } }));
  return { moduleIds: output[0].moduleIds, bytes: readFileSync(file).length, responses };
}

describe('modules that programs contain only partly', async () => {
  const whole = await bundleOf('whole');
  const reduced = await bundleOf('reduced', reducedModules({ small: false }));
  const small = await bundleOf('small', reducedModules({ small: true }));

  it('exist in the installed versions of these packages', () => {
    const paths: readonly string[] = reducedPaths({ small: true });
    const loaded = (path: string) => whole.moduleIds.some((id) => id.replaceAll('\\', '/').endsWith(path));
    expect(paths.filter((path) => !loaded(path))).toEqual([]);
  });

  it('are smaller than the whole ones', () => {
    expect(reduced.bytes).toBeLessThan(whole.bytes * 0.7);
    expect(small.bytes).toBeLessThan(reduced.bytes * 0.8);
  });

  it('are sufficient for the requests that programs serve', () => {
    const responses = whole.responses();
    expect(responses.map(([, status]: readonly [string, number]) => status)).toEqual([
      200, 200, 200, 200, 415, 400, 200, 200, 200, 409, 200, 404,
    ]);
    expect(reduced.responses()).toEqual(responses);
    expect(small.responses()).toEqual(responses);
  });
});
