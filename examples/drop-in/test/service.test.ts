import { memoryStore, projectQuotas } from '@apistrata/quota';
import request from 'supertest';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createService, type Service } from '../src/service.js';

let running: Service;
beforeEach(() => {
  running = createService(projectQuotas({ preset: 'key-manager', store: memoryStore(), defaults: { secrets: 2 } }));
});
afterEach(() => running.health.close());

const P1 = { 'X-Project-Id': 'p1' };
const ADMIN = { 'X-Project-Id': 'admins', 'X-Roles': 'key-manager:service-admin' };
const create = (name: unknown = 'a') => request(running.app).post('/v1/secrets').set(P1).send({ name });
const used = async () => (await request(running.app).get('/v1/secrets').set(P1)).body.secrets.length;

describe('the example service', () => {
  it('lets each project create as many secrets as its quota allows', async () => {
    await create().expect(201);
    await create().expect(201);
    const rejected = await create().expect(403);
    expect(rejected.body.description).toBe(
      'Secret creation issue seen - Creation not allowed because a quota has been reached.',
    );
    expect(await used()).toBe(2);
    await request(running.app).post('/v1/secrets').set('X-Project-Id', 'p2').send({ name: 'b' }).expect(201);
  });

  it('consumes no quota for rejected requests, and releases usage after deletions', async () => {
    for (const name of ['', 5, null]) await create(name).expect(400);
    const { body } = await create().expect(201);
    await create().expect(201);
    await request(running.app).delete('/v1/secrets/unknown').set(P1).expect(404);
    await create().expect(403);
    await request(running.app).delete(`/v1/secrets/${body.id}`).set(P1).expect(204);
    await vi.waitFor(() => create().expect(201), 30_000);
  });

  it('raises a quota at run time', async () => {
    await create().expect(201);
    await create().expect(201);
    const set = request(running.app).put('/v1/project-quotas/p1').set(ADMIN);
    await set.send({ project_quotas: { secrets: 3 } }).expect(204);
    await create().expect(201);
    const shown = await request(running.app).get('/v1/quotas').set(P1).expect(200);
    expect(shown.body.quotas.secrets).toBe(3);
  });

  it('shows a secret in the format of the requested version', async () => {
    const { body } = await create().expect(201);
    const old = await request(running.app).get(`/v1/secrets/${body.id}`).set(P1).expect(200);
    expect(Object.keys(old.body)).toEqual(['id', 'name']);
    const newer = await request(running.app)
      .get(`/v1/secrets/${body.id}`)
      .set({ ...P1, 'Service-API-Version': 'key-manager 1.1' });
    expect(Object.keys(newer.body)).toEqual(['id', 'name', 'created']);
    expect(newer.headers['service-api-version']).toBe('key-manager 1.1');
    await request(running.app)
      .get('/v1/secrets')
      .set({ ...P1, 'Service-API-Version': 'key-manager 1.2' })
      .expect(406);
  });

  it('sends a request id and a version with the responses of all packages', async () => {
    for (const path of ['/v1/secrets', '/v1/quotas']) {
      const { headers } = await request(running.app).get(path).set(P1).expect(200);
      expect(headers['x-service-request-id']).toMatch(/^req-[0-9a-f-]{36}$/);
      expect(headers['service-api-version']).toBe('key-manager 1.0');
    }
  });

  it('is healthy while its quota store responds', async () => {
    await request(running.app).get('/healthcheck').expect(200, 'OK');
    running.health.shutdown();
    await request(running.app).get('/healthcheck').expect(503);
  });

  it('requires a project', async () => {
    await request(running.app).get('/v1/secrets').expect(400);
    await request(running.app).get('/v1/quotas').expect(400);
  });
});
