import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';

describe('a server over HTTP', () => {
  let api: Api;
  beforeAll(async () => {
    api = await apiUnderTest();
  });
  afterAll(() => api.close());

  it('boots, stops, and has the id of each request in its history', async () => {
    const ada = api.as('ada:p1', '2.37');
    const server = await ada.boot();
    expect(server.status).toBe('ACTIVE');
    const stopped = await ada.act(server.id, 'os-stop');
    expect(stopped.status).toBe(202);
    expect(stopped.headers.get('content-length')).toBe('0');
    const { instanceActions } = (await ada.get(`/servers/${server.id}/os-instance-actions`)).body;
    expect(instanceActions.map((a: any) => a.action)).toEqual(['stop', 'create']);
    expect(instanceActions[0].request_id).toBe(stopped.headers.get('x-compute-request-id'));
    expect(stopped.headers.get('x-openstack-request-id')).toBe(instanceActions[0].request_id);
    expect((await ada.get(`/servers/${server.id}`)).body.server.status).toBe('SHUTOFF');
    expect((await ada.delete(`/servers/${server.id}`)).status).toBe(204);
    await api.idle();
    expect((await ada.get(`/servers/${server.id}`)).status).toBe(404);
    expect(api.errors).toEqual([]);
  });

  it('is invisible to other projects', async () => {
    const server = await api.as('ada:p1', '2.37').boot();
    const bob = api.as('bob:p2', '2.37');
    expect((await bob.get(`/servers/${server.id}`)).body.itemNotFound.code).toBe(404);
    expect((await bob.act(server.id, 'os-stop')).status).toBe(404);
    expect((await bob.get('/servers')).body.servers).toEqual([]);
  });
});
