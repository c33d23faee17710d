import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEngine, type Engine } from '@apistrata/compute-engine';
import { memoryStore, projectQuotas } from '@apistrata/quota';
import { afterEach, describe, expect, it } from 'vitest';
import { type ComputeApiOptions, computeApi, type Identity, IdentityUnavailable, noauth } from '../src/index.js';

const SERVICE_ADMIN = 'x:p:key-manager:service-admin';

let engine: Engine;
let server: Server;
afterEach(async () => {
  server?.close();
  await engine?.close();
});

type Asked = { readonly status: number; readonly headers: Record<string, unknown>; readonly text: string };

/** Asks the whole API, with the target just as it is given. */
async function start(options: Partial<ComputeApiOptions> = {}) {
  engine = await createEngine({ database: ':memory:' });
  const quota = projectQuotas({ store: memoryStore() });
  server = createServer(computeApi({ engine, identity: noauth(), quota, ...options }));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return (path: string, headers: Record<string, string> = {}, method = 'GET', body?: string) =>
    new Promise<Asked>((resolve, reject) => {
      const call = request({ host: '127.0.0.1', port, path, method, headers }, async (res) => {
        const chunks: Buffer[] = [];
        for await (const chunk of res) chunks.push(chunk);
        resolve({ status: res.statusCode!, headers: res.headers, text: Buffer.concat(chunks).toString() });
      });
      call.on('error', reject).end(body);
    });
}

describe('project quotas below /v1', () => {
  it('are managed by whoever has the role, which noauth takes from the token', async () => {
    const ask = await start();
    const json = { 'X-Auth-Token': SERVICE_ADMIN, 'Content-Type': 'application/json' };
    const set = await ask('/v1/project-quotas/p', json, 'PUT', '{"project_quotas": {"secrets": 3}}');
    expect(set.status).toBe(204);
    expect((await ask('/v1/project-quotas/p', { 'X-Auth-Token': SERVICE_ADMIN })).text).toContain('"secrets": 3');
    expect((await ask('/v1/project-quotas/p', { 'X-Auth-Token': 'admin' })).status).toBe(403);
  });

  it('say where to log in to who has no valid token', async () => {
    const ask = await start({ identity: Object.assign(noauth(), { uri: 'https://id.example/v3' }) as Identity });
    const answer = await ask('/v1/quotas');
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Keystone uri="https://id.example/v3"');
    await server.close();
    const other = await start();
    expect((await other('/v1/quotas')).headers['www-authenticate']).toMatch(/^Keystone uri="http:.*\/identity"$/);
  });

  it('are unavailable while it cannot be found out who asks', async () => {
    const errors: unknown[] = [];
    const identity = () => Promise.reject(new IdentityUnavailable('it cannot be reached'));
    const ask = await start({ identity, onError: (error) => void errors.push(error) });
    for (const path of ['/v1/quotas', '/v1/project-quotas/p']) {
      const answer = await ask(path, { 'X-Auth-Token': 'x', Accept: 'application/json' });
      expect(answer.status).toBe(503);
      expect(answer.headers['retry-after']).toBe('5');
      expect(JSON.parse(answer.text)).toMatchObject({ title: 'Service Unavailable' });
    }
    expect(errors).toEqual([]);
  });

  it.each([
    ['service', ['service-api-version']],
    ['openstack', ['openstack-api-version']],
    ['both', ['service-api-version', 'openstack-api-version']],
  ] as const)('speak the %s headers of the API around them', async (headers, names) => {
    const ask = await start({ headers });
    for (const asked of names) {
      const answer = await ask('/v1/quotas', { 'X-Auth-Token': 'ada', [asked]: 'compute 2.5, key-manager latest' });
      expect(answer.status).toBe(200);
      for (const name of ['service-api-version', 'openstack-api-version']) {
        const expected = names.some((each) => each === name) ? 'key-manager 1.1' : undefined;
        expect(answer.headers[name]).toBe(expected);
      }
    }
    const refused = await ask('/v1/quotas', { 'X-Auth-Token': 'ada', [names[0]]: 'key-manager 9.9' });
    expect(refused.status).toBe(406);
    expect(refused.headers['x-openstack-request-id']).toMatch(/^req-/);
    expect(refused.headers['x-service-request-id']).toMatch(/^req-/);
  });

  it.each(['http://cloud.example/v1/quotas', '//v1/quotas', '/v1//quotas/'])('are found at %s', async (target) => {
    const ask = await start();
    const answer = await ask(target, { 'X-Auth-Token': 'ada' });
    expect(answer.text).toBe('{"quotas": {"secrets": -1, "orders": -1, "containers": -1, "consumers": -1, "cas": -1}}');
  });
});
