import { projectQuotas, type QuotaStore } from '@apistrata/quota';
import { headerIdentity, projectQuotaRouter } from '@apistrata/quota/router';
import express from 'express';
import supertest from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { ADMIN, agent, get, handler, MEMBER, onFreshQuota, problem, put, quota } from './requests.js';

onFreshQuota();

describe('headers', () => {
  it('of every response contain version, Vary and a request id', async () => {
    const paths: [string, object, number][] = [
      ['/v1/quotas', MEMBER, 200],
      ['/v1/project-quotas', MEMBER, 403],
      ['/v1/project-quotas/x', ADMIN, 404],
    ];
    for (const [path, headers, status] of paths) {
      const response = await agent()
        .get(path)
        .set({ ...headers })
        .expect(status);
      expect(response.headers['service-api-version']).toBe('key-manager 1.0');
      expect(response.headers.vary).toBe('Service-API-Version');
      expect(response.headers['x-service-request-id']).toMatch(/^req-[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
    }
  });

  it('echo the request id of the client unchanged', async () => {
    const result = await get('/v1/quotas').set('X-Service-Request-ID', 'any text at all');
    expect(result.headers['x-service-request-id']).toBe('any text at all');
  });

  it('preserve the request id and Vary of earlier middleware', async () => {
    const app = express()
      .use((_req, res, next) => {
        res.setHeader('X-Service-Request-ID', 'req-before').setHeader('Vary', 'Origin');
        next();
      })
      .use(handler() as express.RequestHandler);
    const response = await supertest(app).get('/v1/quotas').set(MEMBER);
    expect(response.headers['x-service-request-id']).toBe('req-before');
    expect(response.headers.vary).toBe('Origin, Service-API-Version');
  });

  it.each([
    ['key-manager 1.0', '1.0'],
    ['key-manager 1.1', '1.1'],
    ['Key-Manager 1.1', '1.1'],
    ['key-manager +01 . 01', '1.1'],
    ['compute 2.27, key-manager 1.1', '1.1'],
    ['key-manager 1.0, key-manager 1.1', '1.1'],
    ['compute 2.27', '1.0'],
    ['1.1', '1.0'],
    ['', '1.0'],
    ['key-manager latest', '1.1'],
    ['Key-Manager latest', '1.1'],
  ])('with %j select version %s', async (requested, got) => {
    const response = await get('/v1/quotas').set('Service-API-Version', requested).expect(200);
    expect(response.headers['service-api-version']).toBe(`key-manager ${got}`);
  });

  it.each(['1', '1.0.0', 'Latest', 'LATEST', 'x.y'])('with the version %s cause 400', async (version) => {
    const response = await get('/v1/quotas').set('Service-API-Version', `key-manager ${version}`).expect(400);
    expect(response.text).toContain('Invalid microversion: ');
    expect(response.headers['service-api-version']).toBeUndefined();
    expect(response.headers.vary).toBeUndefined();
    expect(response.headers['x-service-request-id']).toMatch(/^req-/);
  });

  it.each(['1.2', '0.9', '2.0', `1.${'9'.repeat(3000)}`])(
    'with the version %s cause 406 with the range',
    async (version) => {
      const response = await get('/v1/quotas').set('Service-API-Version', `key-manager ${version}`).expect(406);
      expect(response.body.errors[0]).toMatchObject({
        status: 406,
        detail: `Invalid microversion: Unacceptable version header: ${version}`,
        min_version: '1.0',
        max_version: '1.1',
      });
      expect(response.headers['service-api-version']).toBeUndefined();
      expect(response.headers['x-service-request-id']).toMatch(/^req-/);
    },
  );

  it('of both families are accepted and returned if both are configured', async () => {
    const request = { 'OpenStack-API-Version': 'key-manager 1.1' };
    const both = await get('/v1/quotas', { headers: 'both' })
      .set(request)
      .set('X-OpenStack-Request-ID', 'mine')
      .expect(200);
    expect(both.headers).toMatchObject({
      'service-api-version': 'key-manager 1.1',
      'openstack-api-version': 'key-manager 1.1',
      vary: 'Service-API-Version, OpenStack-API-Version',
      'x-service-request-id': 'mine',
      'x-openstack-request-id': 'mine',
    });
    const openstack = await get('/v1/quotas', { headers: 'openstack' }).set(request).expect(200);
    expect(openstack.headers['openstack-api-version']).toBe('key-manager 1.1');
    expect(openstack.headers['x-openstack-request-id']).toMatch(/^req-/);
    expect(openstack.headers['service-api-version']).toBeUndefined();
    const service = await get('/v1/quotas').set(request).expect(200);
    expect(service.headers['service-api-version']).toBe('key-manager 1.0');
    expect(service.headers['openstack-api-version']).toBeUndefined();
  });

  it('have configurable names and a configurable service type', async () => {
    const options = { serviceType: 'vault', headers: { typed: ['X-Api'] }, requestIdHeaders: ['X-Id'] };
    const response = await get('/v1/quotas', options).set('X-Api', 'vault 1.1').set('X-Id', 'mine').expect(200);
    expect(response.headers).toMatchObject({ 'x-api': 'vault 1.1', vary: 'X-Api', 'x-id': 'mine' });
  });
});

describe('a failing store', () => {
  it('returns 503 with Retry-After without the cause, which is reported to onError', async () => {
    const down = new Proxy({} as QuotaStore, { get: () => () => Promise.reject(new Error('password is 1234')) });
    const onError = vi.fn();
    const options = { quota: projectQuotas({ preset: 'key-manager', store: down }), onError };
    for (const path of ['/v1/project-quotas', '/v1/project-quotas/p1']) {
      const response = await get(path, options).expect(503);
      const description = 'Project Quotas failure seen - the quota store is unavailable; try again later.';
      expect(response.text).toBe(problem(503, 'Service Unavailable', description));
      expect(response.headers['retry-after']).toBe('5');
      expect(response.headers['service-api-version']).toBe('key-manager 1.0');
    }
    await put('/v1/project-quotas/p1', { project_quotas: {} }, options).expect(503);
    const cause = expect.objectContaining({ message: 'password is 1234' });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'QUOTA_STORE_UNAVAILABLE', cause });
  });
});

describe('an unexpected error', () => {
  it('returns 500 without details, and is reported to onError', async () => {
    const onError = vi.fn();
    const identity = () => Promise.reject(new Error('password is 1234'));
    const response = await get('/v1/quotas', { identity, onError }).expect(500);
    const description = 'Quotas failure seen - please contact site administrator.';
    expect(response.text).toBe(problem(500, 'Internal Server Error', description));
    expect(onError).toHaveBeenCalledOnce();
  });
});

describe('options of projectQuotaRouter()', () => {
  it.each([
    [{ quotta: 1 }, 'did you mean "quota"?'],
    [{ quota: undefined }, 'a quota is required'],
    [{ identity: undefined }, 'identity must be a function'],
    [{ otherPaths: 'drop' }, '"next" or "respond"'],
    [{ maxLimit: 0 }, 'maxLimit must be'],
    [{ headers: { typed: ['a b'] } }, 'a b'],
    [{ headers: 'compute' }, 'service, openstack, both'],
    [{ requestIdHeaders: ['a b'] }, 'a b'],
  ])('%j are rejected', (options, message) => {
    const make = () => projectQuotaRouter({ quota, identity: headerIdentity(), ...options } as never);
    expect(make).toThrow(message);
  });
});
