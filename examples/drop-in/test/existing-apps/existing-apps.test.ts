import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import * as healthcheck from '@apistrata/healthcheck';
import * as healthcheckNest from '@apistrata/healthcheck/nestjs';
import * as microversion from '@apistrata/microversion';
import * as quota from '@apistrata/quota';
import * as requestId from '@apistrata/request-id';
import * as requestIdNest from '@apistrata/request-id/nestjs';
import * as nestCommon from '@nestjs/common';
import * as nestCore from '@nestjs/core';
import compression from 'compression';
import cors from 'cors';
import express from 'express';
import express4 from 'express4';
import helmet from 'helmet';
import morgan from 'morgan';
import * as metadata from 'reflect-metadata';
import supertest from 'supertest';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/** The modules that the apps require. Packages of this repository are loaded from their sources. */
const MODULES: Readonly<Record<string, unknown>> = {
  '@apistrata/healthcheck': healthcheck,
  '@apistrata/healthcheck/nestjs': healthcheckNest,
  '@apistrata/microversion': microversion,
  '@apistrata/quota': quota,
  '@apistrata/request-id': requestId,
  '@apistrata/request-id/nestjs': requestIdNest,
  '@nestjs/common': nestCommon,
  '@nestjs/core': nestCore,
  'reflect-metadata': metadata,
  compression,
  cors,
  helmet,
  morgan,
};

interface ExistingApp {
  start(): Promise<RequestListener>;
  readonly log: readonly string[];
}

const APPS = {
  'express4.cjs': { ...MODULES, express: express4 },
  'express5.ts': { ...MODULES, express },
  'nest.ts': MODULES,
};

const COMPILER_OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.CommonJS,
  target: ts.ScriptTarget.ES2022,
  esModuleInterop: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};

/** Matches imports of this repository's packages, and code between `// + apistrata` and `// - apistrata`. */
const ADDITIONS = /^(?:import|const) [^;]*'@apistrata\/[^;]*;\n| *\/\/ \+ apistrata\n[\s\S]*?\/\/ - apistrata\n/gm;

/** Runs an app as CommonJS, with or without the code that uses the packages. */
async function run(name: keyof typeof APPS, added: boolean) {
  const text = readFileSync(join(import.meta.dirname, name), 'utf8');
  const source = added ? text : text.replaceAll(ADDITIONS, '');
  expect(source.includes('@apistrata/')).toBe(added);
  const code = name.endsWith('.ts')
    ? ts.transpileModule(source, { compilerOptions: COMPILER_OPTIONS }).outputText
    : source;
  const modules: Readonly<Record<string, unknown>> = APPS[name];
  const load = (id: string) => {
    expect(modules).toHaveProperty([id]);
    return modules[id];
  };
  const module = { exports: {} as ExistingApp };
  new Function('require', 'module', 'exports', code)(load, module, module.exports);
  return { agent: supertest(await module.exports.start()), log: module.exports.log };
}

/**
 * Sends requests to all routes of an app. Returns the statuses, the bodies, and the headers that other middleware sets.
 */
async function use({ agent, log }: Awaited<ReturnType<typeof run>>) {
  const requests = [
    agent.get('/notes'),
    agent.post('/notes').send({}),
    agent.post('/notes').send({ text: 'milk' }),
    agent.get('/notes').set('Origin', 'https://shop.example').set('Accept-Encoding', 'gzip'),
    agent.delete('/notes/7'),
    agent.delete('/notes/1'),
    agent.get('/broken'),
    agent.get('/unknown'),
  ];
  const responses: unknown[] = [];
  for (const request of requests) {
    const { status, text, headers } = await request;
    const [encoding, frame, origin] = ['content-encoding', 'x-frame-options', 'access-control-allow-origin'];
    responses.push([status, text, headers[encoding], headers[frame], headers[origin]]);
  }
  return { responses, log: [...log] };
}

describe.each(Object.keys(APPS) as (keyof typeof APPS)[])('the existing app %s', (name) => {
  it('works as before with all four packages', async () => {
    const before = await use(await run(name, false));
    expect(await use(await run(name, true))).toEqual(before);
    expect(before.responses.map((response) => (response as readonly unknown[])[0])).toEqual([
      200, 400, 201, 200, 404, 204, 500, 404,
    ]);
  });

  it('gains a health endpoint, request ids, versions and a quota', async () => {
    const { agent } = await run(name, true);
    await agent.get('/healthcheck').expect(200);
    const listed = await agent.get('/notes').set('X-Request-Id', 'order-4711').set('API-Version', '2026-11-01');
    expect([listed.status, listed.headers['x-request-id'], listed.headers['api-version']]).toEqual([
      200,
      'order-4711',
      '2026-11-01',
    ]);
    await agent.get('/notes').set('API-Version', '2020-01-01').expect(406);
    const create = () => agent.post('/notes').send({ text: 'milk' });
    await create().expect(201);
    await create().expect(201);
    const rejected = await create().expect(403);
    expect([rejected.type, rejected.headers.ratelimit]).toEqual(['application/problem+json', '"notes";r=0']);
    await agent.delete('/notes/1').expect(204);
    await create().expect(201);
  });
});

it('the app with Express 4 has compression, CORS, security headers and a log', async () => {
  const { responses, log } = await use(await run('express4.cjs', true));
  expect((responses as unknown[][])[3]?.slice(2)).toEqual(['gzip', 'SAMEORIGIN', '*']);
  expect(log[0]).toBe('GET /notes 200\n');
});
