import { projectQuotas, type QuotaStore } from '@apistrata/quota';
import { headerIdentity, projectQuotaRouter } from '@apistrata/quota/router';
import express from 'express';
import supertest from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { ADMIN, agent, get, handler, MEMBER, onFreshQuota, problem, put, quota } from './requests.js';

onFreshQuota();

describe('headers', () => {
  it('of every answer of the service name version, Vary and a request id', async () => {
    const paths: [string, object, number][] = [
      ['/v1/quotas', MEMBER, 200],
      ['/v1/project-quotas', MEMBER, 403],
      ['/v1/project-quotas/x', ADMIN, 404],
    ];
    for (const [path, headers, status] of paths) {
      const answer = await agent()
        .get(path)
        .set({ ...headers })
        .expect(status);
      expect(answer.headers['service-api-version']).toBe('key-manager 1.0');
      expect(answer.headers.vary).toBe('Service-API-Version');
      expect(answer.headers['x-service-request-id']).toMatch(/^req-[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
    }
  });

  it('echo an inbound request id as it is', async () => {
    const answer = await get('/v1/quotas').set('X-Service-Request-ID', 'whatever you like');
    expect(answer.headers['x-service-request-id']).toBe('whatever you like');
  });

  it('keep the request id and Vary of a middleware before', async () => {
    const app = express()
      .use((_req, res, next) => {
        res.setHeader('X-Service-Request-ID', 'req-before').setHeader('Vary', 'Origin');
        next();
      })
      .use(handler() as express.RequestHandler);
    const answer = await supertest(app).get('/v1/quotas').set(MEMBER);
    expect(answer.headers['x-service-request-id']).toBe('req-before');
    expect(answer.headers.vary).toBe('Origin, Service-API-Version');
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
  ])('ask for %j and get version %s', async (asked, got) => {
    const answer = await get('/v1/quotas').set('Service-API-Version', asked).expect(200);
    expect(answer.headers['service-api-version']).toBe(`key-manager ${got}`);
  });

  it.each(['1', '1.0.0', 'Latest', 'LATEST', 'x.y'])('with the version %s are 400', async (version) => {
    const answer = await get('/v1/quotas').set('Service-API-Version', `key-manager ${version}`).expect(400);
    expect(answer.text).toContain('Invalid microversion: ');
    expect(answer.headers['service-api-version']).toBeUndefined();
    expect(answer.headers.vary).toBeUndefined();
    expect(answer.headers['x-service-request-id']).toMatch(/^req-/);
  });

  it.each(['1.2', '0.9', '2.0', `1.${'9'.repeat(3000)}`])(
    'with the version %s are 406 with the range',
    async (version) => {
      const answer = await get('/v1/quotas').set('Service-API-Version', `key-manager ${version}`).expect(406);
      expect(answer.body.errors[0]).toMatchObject({
        status: 406,
        detail: `Invalid microversion: Unacceptable version header: ${version}`,
        min_version: '1.0',
        max_version: '1.1',
      });
      expect(answer.headers['service-api-version']).toBeUndefined();
      expect(answer.headers['x-service-request-id']).toMatch(/^req-/);
    },
  );

  it('of both families are understood and answered where both are served', async () => {
    const asked = { 'OpenStack-API-Version': 'key-manager 1.1' };
    const both = await get('/v1/quotas', { headers: 'both' })
      .set(asked)
      .set('X-OpenStack-Request-ID', 'mine')
      .expect(200);
    expect(both.headers).toMatchObject({
      'service-api-version': 'key-manager 1.1',
      'openstack-api-version': 'key-manager 1.1',
      vary: 'Service-API-Version, OpenStack-API-Version',
      'x-service-request-id': 'mine',
      'x-openstack-request-id': 'mine',
    });
    const openstack = await get('/v1/quotas', { headers: 'openstack' }).set(asked).expect(200);
    expect(openstack.headers['openstack-api-version']).toBe('key-manager 1.1');
    expect(openstack.headers['x-openstack-request-id']).toMatch(/^req-/);
    expect(openstack.headers['service-api-version']).toBeUndefined();
    const service = await get('/v1/quotas').set(asked).expect(200);
    expect(service.headers['service-api-version']).toBe('key-manager 1.0');
    expect(service.headers['openstack-api-version']).toBeUndefined();
  });

  it('have other names and another service type by option', async () => {
    const options = { serviceType: 'vault', headers: { typed: ['X-Api'] }, requestIdHeaders: ['X-Id'] };
    const answer = await get('/v1/quotas', options).set('X-Api', 'vault 1.1').set('X-Id', 'mine').expect(200);
    expect(answer.headers).toMatchObject({ 'x-api': 'vault 1.1', vary: 'X-Api', 'x-id': 'mine' });
  });
});

describe('a failing store', () => {
  it('is a 500 that tells nothing, and a hook is told', async () => {
    const down = new Proxy({} as QuotaStore, { get: () => () => Promise.reject(new Error('password is 1234')) });
    const onError = vi.fn();
    const options = { quota: projectQuotas({ store: down }), onError };
    for (const path of ['/v1/project-quotas', '/v1/project-quotas/p1']) {
      const answer = await get(path, options).expect(500);
      const description = 'Project Quotas failure seen - please contact site administrator.';
      expect(answer.text).toBe(problem(500, 'Internal Server Error', description));
      expect(answer.headers['service-api-version']).toBe('key-manager 1.0');
    }
    await put('/v1/project-quotas/p1', { project_quotas: {} }, options).expect(500);
    expect(onError.mock.calls[0]![0]).toMatchObject({ code: 'QUOTA_STORE_UNAVAILABLE' });
  });
});

describe('the options of projectQuotaRouter()', () => {
  it.each([
    [{ quotta: 1 }, 'did you mean "quota"?'],
    [{ quota: undefined }, 'a quota is needed'],
    [{ identity: undefined }, 'identity must be a function'],
    [{ otherPaths: 'drop' }, '"next" or "answer"'],
    [{ maxLimit: 0 }, 'maxLimit must be'],
    [{ headers: { typed: ['a b'] } }, 'a b'],
    [{ headers: 'compute' }, 'service, openstack, both'],
    [{ requestIdHeaders: ['a b'] }, 'a b'],
  ])('%j are refused', (options, message) => {
    const make = () => projectQuotaRouter({ quota, identity: headerIdentity(), ...options } as never);
    expect(make).toThrow(message);
  });
});
