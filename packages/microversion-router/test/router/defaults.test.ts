import type { RequestListener } from 'node:http';
import { before, since, versioning } from '@apistrata/microversion';
import { one, query } from '@apistrata/microversion/schema';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sendRequest } from '../../../../testing/send-request.js';
import { createRouter, operationsOf } from '../../src/index.js';

const operation = operationsOf<object>();
const reply = { ok: z.boolean() };
const run = () => ({ ok: true });
const common = { method: 'GET', status: 200, reply, run } as const;

const failure = Object.assign(new Error('hidden'), { secret: true });
const operations = [
  operation({ ...common, path: '/all', summary: 'All', query: query({ n: one(z.stringFormat('number', /^\d+$/)) }) }),
  operation({ ...common, path: '/old', summary: 'Old', window: before('2025-01-01', true) }),
  operation({ ...common, path: '/both', summary: 'Both, at first', window: before('2025-01-01', true) }),
  operation({ ...common, path: '/both', summary: 'Both, now', window: since('2025-01-01', true) }),
  operation({
    ...common,
    path: '/fail',
    summary: 'Fail',
    run: () => {
      throw failure;
    },
  }),
  operation({
    ...common,
    path: '/teapot',
    summary: 'Fail as http-errors do',
    run: () => {
      throw Object.assign(new Error('short and stout'), { status: 418, expose: true });
    },
  }),
];
const versions = ['2024-01-01', '2025-01-01'];

describe('a router behind versioning()', () => {
  const reported: unknown[] = [];
  const app = express();
  app.use(versioning({ versions }));
  app.use(createRouter({ operations, call: () => ({}), onError: (error) => reported.push(error) }));

  it('serves the negotiated version', async () => {
    expect((await sendRequest(app, { path: '/old' })).status).toBe(200);
    const response = await sendRequest(app, { path: '/old', headers: { 'API-Version': '2025-01-01' } });
    expect([response.status, response.headers['content-type']]).toEqual([404, 'application/problem+json']);
  });

  it('announces the end of operations that the newest version no longer contains in any form', async () => {
    expect((await sendRequest(app, { path: '/old' })).headers.deprecation).toBe('@1735689600');
    expect((await sendRequest(app, { path: '/both' })).headers.deprecation).toBeUndefined();
    expect((await sendRequest(app, { path: '/all' })).headers.deprecation).toBeUndefined();
  });

  it('sends errors as problem details', async () => {
    const read = async (path: string) => JSON.parse((await sendRequest(app, { path })).body);
    expect(await read('/all?n=x')).toMatchObject({
      status: 400,
      errors: [{ parameter: 'n', detail: expect.any(String) }],
    });
    expect(await read('/teapot')).toEqual({ title: "I'm a Teapot", status: 418, detail: 'short and stout' });
    expect(await read('/none')).toMatchObject({ status: 404, code: 'NO_ROUTE' });
  });

  it('reports internal errors, and does not expose them', async () => {
    const response = await sendRequest(app, { path: '/fail' });
    expect(JSON.parse(response.body)).toEqual({
      title: 'Internal Server Error',
      status: 500,
      detail: 'The request failed because of an internal server error.',
    });
    expect(reported).toEqual([failure]);
  });
});

describe('a router without a negotiated version', () => {
  it('reports what is missing', async () => {
    const reported: unknown[] = [];
    const router = createRouter({ operations, call: () => ({}), onError: (error) => reported.push(error) });
    expect((await sendRequest(router, { path: '/all' })).status).toBe(500);
    expect(String(reported[0])).toContain('mount versioning() before the router');
  });
});

describe('a router that negotiates the version itself', () => {
  it('waits for the version of the client', async () => {
    const { negotiate } = versioning({ versions, default: async () => '2025-01-01' });
    const router: RequestListener = createRouter({ operations, call: () => ({}), negotiate });
    const response = await sendRequest(router, { path: '/both' });
    expect([response.status, response.headers['api-version']]).toEqual([200, '2025-01-01']);
    expect((await sendRequest(router, { path: '/old' })).status).toBe(404);
  });
});
