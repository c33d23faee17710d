import { memoryStore, type ProjectQuotas, projectQuotas } from '@apistrata/quota';
import express, { type Request } from 'express';
import supertest from 'supertest';
import { beforeEach, describe, expect, it } from 'vitest';
import { headerNames, ownHeaders } from '../../../../testing/own-headers.js';
import { corsHeaders, enforceQuota } from '../../src/index.js';
import type { Options } from './secrets-app.js';

const LIMIT = 2;
let quota: ProjectQuotas;
beforeEach(() => {
  quota = projectQuotas({ store: memoryStore(), defaults: { invoices: LIMIT, drafts: -1 } });
});

function app(options: Options = {}) {
  const enforce = enforceQuota<Request>({
    quota,
    kinds: { invoices: 1, drafts: 1 },
    project: () => 'acme',
    ...options,
  });
  return supertest(express().post('/invoices', enforce, (_req, res) => void res.status(201).json({})));
}

async function rejection(options: Options = {}) {
  await quota.recount('acme', 'invoices', LIMIT);
  return app(options).post('/invoices');
}

const unavailable = () => {
  const fail = () => {
    throw new Error('password of the database: geheim');
  };
  return projectQuotas({
    store: { ...memoryStore(), reserve: fail, getLimits: fail, counts: fail } as never,
    kinds: ['invoices'],
  });
};

describe('enforceQuota() without a preset', () => {
  it('rejects with problem details that name the limits', async () => {
    const { status, headers, text } = await rejection();
    expect([status, headers['content-type']]).toEqual([403, 'application/problem+json']);
    expect(JSON.parse(text)).toEqual({
      title: 'Forbidden',
      status: 403,
      detail: 'Quota exceeded for invoices',
      code: 'QUOTA_EXCEEDED',
      exceeded: [{ kind: 'invoices', requested: 1, used: 2, limit: 2 }],
    });
    expect([headers['ratelimit-policy'], headers.ratelimit]).toEqual(['"invoices";q=2', '"invoices";r=0']);
    expect(headers['retry-after']).toBeUndefined();
  });

  it('responds with 503 and Retry-After while the store fails, without the message of the store', async () => {
    const options = { quota: unavailable(), kinds: { invoices: 1 } };
    const { status, headers, text } = await app(options).post('/invoices');
    expect([status, headers['retry-after'], headers.ratelimit]).toEqual([503, '5', undefined]);
    expect(JSON.parse(text)).toEqual({
      title: 'Service Unavailable',
      status: 503,
      detail: 'Quotas cannot be checked now.',
      code: 'QUOTA_STORE_UNAVAILABLE',
    });
  });

  it('renders plain JSON or a custom body', async () => {
    expect((await rejection({ errors: 'json', status: 429 })).body).toEqual({
      error: { code: 'QUOTA_EXCEEDED', status: 429, message: 'Quota exceeded for invoices' },
    });
    const custom = await rejection({ errors: ({ code }) => ({ contentType: 'text/plain', body: code }) });
    expect([custom.text, custom.type]).toEqual(['QUOTA_EXCEEDED', 'text/plain']);
  });

  it('sends the remaining amount with every response if configured so', async () => {
    const { status, headers } = await app({ rateLimitHeaders: 'always' }).post('/invoices');
    expect([status, headers['ratelimit-policy'], headers.ratelimit]).toEqual([201, '"invoices";q=2', '"invoices";r=1']);
    const silent = await rejection({ rateLimitHeaders: 'never' });
    expect([silent.headers.ratelimit, silent.headers['ratelimit-policy']]).toEqual([undefined, undefined]);
  });

  it('omits the headers of an accepted request if usage cannot be read', async () => {
    const errors: unknown[] = [];
    const store = memoryStore();
    store.counts = () => {
      throw new Error('read failed');
    };
    const options = {
      quota: projectQuotas({ store, defaults: { invoices: 1 } }),
      kinds: { invoices: 1 },
      rateLimitHeaders: 'always',
      onError: (error: unknown) => errors.push(error),
    } as const;
    const { status, headers } = await app(options).post('/invoices');
    expect([status, headers.ratelimit, errors.length]).toEqual([201, undefined, 1]);
  });

  it('sets Retry-After as configured', async () => {
    expect((await rejection({ retryAfter: 60 })).headers['retry-after']).toBe('60');
    const byCode = await rejection({ retryAfter: ({ code }) => code.length });
    expect(byCode.headers['retry-after']).toBe('14');
    expect(() => app({ retryAfter: -1 })).toThrow('retryAfter must be');
    expect(() => app({ rateLimitHeaders: 'some' as never })).toThrow('"rejections" or "always" or "never"');
  });
});

describe('the preset key-manager', () => {
  it('has its kinds, and rejects byte for byte as the key management API does', async () => {
    quota = projectQuotas({ preset: 'key-manager', store: memoryStore(), defaults: { secrets: 0 } });
    expect(quota.kinds).toEqual(['secrets', 'orders', 'containers', 'consumers', 'cas']);
    const { status, headers, text } = await app({ kinds: { secrets: 1 } }).post('/invoices');
    expect(status).toBe(403);
    expect(text).toBe(
      '{"code":403,"title":"Forbidden","description":"Secret creation issue seen - Creation not allowed because a quota has been reached."}',
    );
    expect(headers['content-type']).toBe('application/json');
    expect([headers.ratelimit, headers['ratelimit-policy'], headers['retry-after']]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('can be combined with other bodies', async () => {
    quota = projectQuotas({ preset: 'key-manager', store: memoryStore(), defaults: { secrets: 0 } });
    const { type } = await app({ kinds: { secrets: 1 }, errors: 'problem' }).post('/invoices');
    expect(type).toBe('application/problem+json');
  });

  it('is one of the known presets', () => {
    expect(() => projectQuotas({ store: memoryStore(), preset: 'barbican' as never })).toThrow('general, key-manager');
    expect(() => projectQuotas({ store: memoryStore() })).toThrow('At least one kind is required');
  });
});

it('corsHeaders() exposes the headers that enforceQuota() sends', async () => {
  const responses = [await app({ rateLimitHeaders: 'always' }).post('/invoices'), await rejection({ retryAfter: 60 })];
  expect(responses.map(({ status }) => status)).toEqual([201, 403]);
  // Express itself sends these two headers.
  const sent = ownHeaders(responses).filter((name) => !['etag', 'x-powered-by'].includes(name));
  expect(headerNames(corsHeaders().exposedHeaders)).toEqual(sent);
});
