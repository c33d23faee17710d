import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Caller, createEngine, type Engine, type EngineOptions } from '@apistrata/compute-engine';
import { memoryStore, projectQuotas } from '@apistrata/quota';
import { afterEach, describe, expect, it } from 'vitest';
import { type ComputeApiOptions, computeApi, type Identity, IdentityUnavailable, noauth } from '../../src/index.js';
import { rateLimiter } from '../../src/rate-limit/index.js';

const SERVICE_ADMIN = 'x:p:key-manager:service-admin';

let engine: Engine;
let server: Server;
afterEach(async () => {
  server?.close();
  await engine?.close();
});

type RequestResult = { readonly status: number; readonly headers: Record<string, unknown>; readonly text: string };

/** Starts the complete API. Returns a function that sends requests without normalizing their targets. */
async function start(options: Partial<ComputeApiOptions> = {}, engineOptions: EngineOptions = {}) {
  engine = await createEngine({ database: ':memory:', ...engineOptions });
  const quota = projectQuotas({ preset: 'key-manager', store: memoryStore() });
  server = createServer(computeApi({ engine, identity: noauth(), quota, ...options }));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return (path: string, headers: Record<string, string> = {}, method = 'GET', body?: string) =>
    new Promise<RequestResult>((resolve, reject) => {
      const call = request({ host: '127.0.0.1', port, path, method, headers }, async (res) => {
        const chunks: Buffer[] = [];
        for await (const chunk of res) chunks.push(chunk);
        resolve({ status: res.statusCode!, headers: res.headers, text: Buffer.concat(chunks).toString() });
      });
      call.on('error', reject).end(body);
    });
}

describe('project quotas below /v1', () => {
  it('are managed by callers with the role, which noauth reads from the token', async () => {
    const request = await start();
    const json = { 'X-Auth-Token': SERVICE_ADMIN, 'Content-Type': 'application/json' };
    const set = await request('/v1/project-quotas/p', json, 'PUT', '{"project_quotas": {"secrets": 3}}');
    expect(set.status).toBe(204);
    expect((await request('/v1/project-quotas/p', { 'X-Auth-Token': SERVICE_ADMIN })).text).toContain('"secrets": 3');
    expect((await request('/v1/project-quotas/p', { 'X-Auth-Token': 'admin' })).status).toBe(403);
  });

  it('return the URL for tokens to callers without a valid token', async () => {
    const request = await start({ identity: Object.assign(noauth(), { uri: 'https://id.example/v3' }) as Identity });
    const response = await request('/v1/quotas');
    expect(response.status).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Keystone uri="https://id.example/v3"');
    await server.close();
    const other = await start();
    expect((await other('/v1/quotas')).headers['www-authenticate']).toMatch(/^Keystone uri="http:.*\/identity"$/);
  });

  it('are unavailable while callers cannot be identified', async () => {
    const errors: unknown[] = [];
    const identity = () => Promise.reject(new IdentityUnavailable('it cannot be reached'));
    const request = await start({ identity, onError: (error) => void errors.push(error) });
    for (const path of ['/v1/quotas', '/v1/project-quotas/p']) {
      const result = await request(path, { 'X-Auth-Token': 'x', Accept: 'application/json' });
      expect(result.status).toBe(503);
      expect(result.headers['retry-after']).toBe('5');
      expect(JSON.parse(result.text)).toMatchObject({ title: 'Service Unavailable' });
    }
    expect(errors).toEqual([]);
  });

  it('are managed by administrators with a system-scoped token, which has no quotas of its own', async () => {
    const system = { userId: 'root', projectId: '', systemScope: true };
    const callers: Readonly<Record<string, Caller>> = {
      admin: { ...system, roles: ['admin'] },
      reader: { ...system, roles: ['reader'] },
      project: { ...system, projectId: 'p', systemScope: false, roles: ['admin'] },
    };
    const request = await start({ identity: (req) => callers[String(req.headers['x-auth-token'])] });
    const json = { 'X-Auth-Token': 'admin', 'Content-Type': 'application/json' };
    expect((await request('/v1/project-quotas/p', json, 'PUT', '{"project_quotas": {"secrets": 3}}')).status).toBe(204);
    expect((await request('/v1/project-quotas', { 'X-Auth-Token': 'admin' })).text).toContain('"total": 1');
    expect((await request('/v1/quotas', { 'X-Auth-Token': 'admin' })).status).toBe(400);
    for (const token of ['reader', 'project'])
      expect((await request('/v1/project-quotas', { 'X-Auth-Token': token })).status).toBe(403);
  });

  it('count for the rate limit, together with the compute API and streams of events', async () => {
    const rateLimit = rateLimiter({ limits: [{ per: 'user', requests: 3, windowSeconds: 600 }] });
    const request = await start({ rateLimit }, { events: {} });
    const token = { 'X-Auth-Token': 'ada' };
    expect((await request('/v2.1/flavors', token)).headers.ratelimit).toBe('"user-600";r=2;t=600');
    expect((await request('/events', token)).headers.ratelimit).toMatch(/^"user-600";r=1;/);
    const served = await request('/v1/quotas', token);
    expect([served.status, served.headers.ratelimit]).toEqual([200, expect.stringMatching(/^"user-600";r=0;/)]);
    for (const path of ['/v1/quotas', '/v1/project-quotas', '/events', '/v2.1/flavors']) {
      const rejected = await request(path, { ...token, Accept: 'application/json' });
      expect([path, rejected.status]).toEqual([path, 429]);
      expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(0);
      expect(JSON.stringify(JSON.parse(rejected.text))).toContain('Too many requests: a user may send 3 in 600 s.');
    }
  });

  it.each([
    ['service', ['service-api-version']],
    ['openstack', ['openstack-api-version']],
    ['both', ['service-api-version', 'openstack-api-version']],
  ] as const)('use the %s headers of the surrounding API', async (headers, names) => {
    const request = await start({ headers });
    for (const requested of names) {
      const response = await request('/v1/quotas', {
        'X-Auth-Token': 'ada',
        [requested]: 'compute 2.5, key-manager latest',
      });
      expect(response.status).toBe(200);
      for (const name of ['service-api-version', 'openstack-api-version']) {
        const expected = names.some((each) => each === name) ? 'key-manager 1.1' : undefined;
        expect(response.headers[name]).toBe(expected);
      }
    }
    const rejected = await request('/v1/quotas', { 'X-Auth-Token': 'ada', [names[0]]: 'key-manager 9.9' });
    expect(rejected.status).toBe(406);
    expect(rejected.headers['x-openstack-request-id']).toMatch(/^req-/);
    expect(rejected.headers['x-service-request-id']).toMatch(/^req-/);
  });

  it.each(['http://cloud.example/v1/quotas', '//v1/quotas', '/v1//quotas/'])('are served at %s', async (target) => {
    const request = await start();
    const response = await request(target, { 'X-Auth-Token': 'ada' });
    expect(response.text).toBe(
      '{"quotas": {"secrets": -1, "orders": -1, "containers": -1, "consumers": -1, "cas": -1}}',
    );
  });
});
