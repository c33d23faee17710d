import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPacked, linkPackage } from '../../../../testing/packed-packages.js';
import { registryPackage } from '../../../../testing/registry-package.js';
import { codeOf, type ExistingApp, expectAdditions, expectUnchanged } from '../existing-apps/app-requests.js';

const root = join(import.meta.dirname, '../../../..');
const folder = mkdtempSync(join(tmpdir(), 'apistrata-existing-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const load = createRequire(join(folder, 'package.json'));

beforeAll(() => {
  installPacked(['healthcheck', 'microversion', 'quota', 'request-id'], folder);
  const others = ['compression', 'cors', 'express', 'helmet', 'morgan', 'reflect-metadata', 'rxjs'];
  for (const name of [...others, '@nestjs/common', '@nestjs/core', '@nestjs/platform-express'])
    linkPackage(name, join(root, 'examples/drop-in'), folder);
}, 120_000);

/** Loads an app of this repository with the `require()` of Node and starts it. */
async function run(name: string, added: boolean) {
  const project = mkdtempSync(join(folder, 'app-'));
  mkdirSync(join(project, 'node_modules'));
  if (name === 'express4.cjs') symlinkSync(join(root, 'node_modules/express4'), join(project, 'node_modules/express'));
  writeFileSync(join(project, 'app.cjs'), codeOf(name, added));
  const app: ExistingApp = load(join(project, 'app.cjs'));
  return { agent: supertest(await app.start()), log: app.log };
}

describe.each(['express4.cjs', 'express5.ts', 'nest.ts'])('the existing app %s with the published packages', (name) => {
  it('works as before', async () => {
    await expectUnchanged(await run(name, false), await run(name, true));
  });

  it('gains a health endpoint, request ids, versions and a quota', async () => {
    await expectAdditions((await run(name, true)).agent);
  });
});

/** An app of another project: Express 4 in CommonJS, with compression, CORS and a REST API for any records. */
const JSON_SERVER = 'json-server@0.17.4';

it(`the app of ${JSON_SERVER} gains a health endpoint, request ids, versions and a quota`, async ({ skip }) => {
  const programs = await registryPackage(JSON_SERVER);
  if (!programs) skip('*** SKIPPED: json-server: the registry cannot be reached ***');
  const jsonServer = load(join(programs, 'json-server'));
  const { enforceQuota, memoryStore, projectQuotas } = load('@apistrata/quota');
  const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 2 } });
  const counted = enforceQuota({ quota, kind: 'notes', project: () => 'everyone' });

  const app = jsonServer.create().use(jsonServer.defaults({ logger: false }));
  app.use(load('@apistrata/request-id').requestId(), load('@apistrata/healthcheck').healthcheck());
  app.use(load('@apistrata/microversion').versioning({ versions: ['2026-01-01', '2026-11-01'] }));
  app.post('/notes', counted).delete('/notes/:id', counted);
  const agent = supertest(app.use(jsonServer.router({ notes: [] })));
  await expectAdditions(agent, { deleted: 200 });
  const listed = await agent.get('/notes').set('Origin', 'https://shop.example').expect(200);
  expect(listed.headers).toMatchObject({
    'access-control-allow-origin': 'https://shop.example',
    'x-powered-by': 'Express',
  });
  expect(listed.body.map(({ text }: { text: string }) => text)).toEqual(['milk', 'milk']);
}, 120_000);
