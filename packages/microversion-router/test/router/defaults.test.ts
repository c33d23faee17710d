import type { RequestListener } from 'node:http';
import { before, computeFault, problem, since, versioning } from '@apistrata/microversion';
import { one, query } from '@apistrata/microversion/schema';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sendRequest } from '../../../../testing/send-request.js';
import { createRouter, operationsOf, type RouterOptions } from '../../src/index.js';

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
const JSON_TYPE = 'application/json; charset=UTF-8';
const NO_ROUTE = 'The resource could not be found.';
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

describe('the errors of a router', () => {
  const { negotiate } = versioning({ versions });
  const read = async (options: Partial<RouterOptions<object>>, path: string) => {
    const router = createRouter({ operations, call: () => ({}), negotiate, ...options });
    const { status, headers, body } = await sendRequest(router, { path });
    return [status, headers['content-type'], body];
  };
  const message = 'The request failed because of an internal server error.';

  it.each([
    [{}, '/teapot', 'application/problem+json', { title: "I'm a Teapot", status: 418, detail: 'short and stout' }],
    [{ errors: 'json' }, '/teapot', JSON_TYPE, { error: { status: 418, message: 'short and stout' } }],
    [{ errors: 'json' }, '/fail', JSON_TYPE, { error: { status: 500, message } }],
    [{ errors: computeFault }, '/none', JSON_TYPE, { itemNotFound: { code: 404, message: NO_ROUTE } }],
    [{ errors: computeFault }, '/fail', JSON_TYPE, { computeFault: { code: 500, message } }],
    [
      { errors: problem({ type: (code) => `urn:${code}` }) },
      '/none',
      'application/problem+json',
      { type: 'urn:NO_ROUTE', title: 'Not Found', status: 404, detail: NO_ROUTE, code: 'NO_ROUTE' },
    ],
  ] as const)('are sent as the option says: %j for %s', async (options, path, type, body) => {
    const [, contentType, text] = await read(options, path);
    expect([contentType, JSON.parse(text as string)]).toEqual([type, body]);
  });

  it('have a format that exists', () => {
    const create = (options: object) => () => createRouter({ operations, call: () => ({}), negotiate, ...options });
    expect(create({ errors: 'next' })).toThrow("createRouter errors: unknown option 'next' (known: problem, json)");
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
