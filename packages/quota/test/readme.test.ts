import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as quotaPackage from '@apistrata/quota';
import express from 'express';
import supertest from 'supertest';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { wrongOptionRows } from '../../../testing/option-tables.js';
import { ENFORCE_OPTIONS } from '../src/enforcement/enforce-options.js';
import type { MemoryStoreOptions } from '../src/memory/index.js';
import { PROJECT_QUOTAS_OPTIONS } from '../src/project-quotas-options.js';
import type { RedisStoreOptions } from '../src/redis/index.js';
import { ROUTER_OPTIONS } from '../src/router/router-options.js';
import type { SqlStoreOptions } from '../src/sql/index.js';

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8');
const readme = read('../README.md');

/** Runs the CommonJS example with the sources instead of the installed package. */
function requireExample() {
  const modules: Readonly<Record<string, unknown>> = { '@apistrata/quota': quotaPackage, express };
  const module = { exports: {} as { app: express.Express; server: { close(): void } } };
  new Function('require', 'module', read('readme.example.cjs'))((name: string) => modules[name], module);
  return module.exports;
}

describe('the examples of the README', () => {
  it.each([
    ['ts', 'readme.example.ts'],
    ['js', 'readme.example.cjs'],
    ['ts', 'key-manager.example.ts'],
  ])('are identical to the code of this test: %s %s', (language, file) => {
    expect(readme).toContain(`\`\`\`${language}\n${read(file)}\`\`\``);
  });

  it('responds as the README shows, as a module and in CommonJS', async () => {
    process.env.PORT = '0';
    for (const { app, server } of [await import('./readme.example.js'), requireExample()]) {
      server.close();
      const agent = supertest(app);
      const create = () => agent.post('/invoices').set('X-Account', 'acme');
      await create().expect(201);
      await create().expect(201);
      const rejected = await create().expect(403);
      expect(readme).toContain(rejected.text);
      expect(readme).toContain(`RateLimit: ${rejected.headers.ratelimit}`);
      await agent.delete('/invoices/1').set('X-Account', 'acme').expect(204);
      await eventually(() => create().expect(201));
    }
  });

  it('shows the usage of an account', async () => {
    const { app } = await import('./readme.example.js');
    const { text } = await supertest(app).get('/usage').set('X-Account', 'acme').expect(200);
    expect(readme).toContain(text);
  });

  it('serves the project-quota API as the README shows', async () => {
    const { app } = await import('./key-manager.example.js');
    const agent = supertest(app);
    const create = () => agent.post('/v1/secrets').set('X-Project-Id', 'p1');
    await create().expect(201);
    await create().expect(201);
    expect(readme).toContain((await create().expect(403)).text);
    const shown = await agent.get('/v1/quotas').set('X-Project-Id', 'p1').expect(200);
    expect(readme).toContain(shown.text);
    const admin = { 'X-Project-Id': 'admins', 'X-Roles': 'key-manager:service-admin' };
    const limits = { project_quotas: { secrets: 3 } };
    await agent.put('/v1/project-quotas/p1').set(admin).send(limits).expect(204);
    await create().expect(201);
  });
});

const STORE_OPTIONS: Readonly<Record<keyof (SqlStoreOptions & RedisStoreOptions & MemoryStoreOptions), true>> = {
  database: true,
  tablePrefix: true,
  client: true,
  keyPrefix: true,
  perProcess: true,
  clock: true,
};

it('the README has a row with the type of every option', () => {
  const names = Object.keys({ ...PROJECT_QUOTAS_OPTIONS, ...ENFORCE_OPTIONS, ...ROUTER_OPTIONS, ...STORE_OPTIONS });
  expect(names.filter((name) => !readme.includes(`| \`${name}\` | \``))).toEqual([]);
});

it.each([
  ['project-quotas-options.ts', 'ProjectQuotasOptions'],
  ['enforcement/enforce-options.ts', 'EnforceQuotaOptions'],
])('the README has the type and default of each option in %s: %s', (file, name) => {
  expect(wrongOptionRows(readme, read(`../src/${file}`), name)).toEqual([]);
});
