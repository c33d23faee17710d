import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, type Client, ids } from '../api-under-test.js';
import { cloud, plain } from './cloud.js';

describe('changing a server', () => {
  let api: Api;
  let ada: Client;
  let id: string;

  beforeAll(async () => {
    api = await cloud({ router: { maxVersion: '2.104' } });
    ada = api.as('ada:p1', '2.100');
    id = (await ada.boot({ networks: [{ uuid: ids.network }] })).id;
  });
  afterAll(async () => {
    expect(api.errors).toEqual([]);
    await api.close();
  });
  const put = (fields: object, version = '2.100', token = 'ada:p1') =>
    api.as(token, version).put(`/servers/${id}`, { server: fields });

  it('changes the given fields, keeps the others, and returns the server', async () => {
    const fields = {
      name: 'renamed',
      'OS-DCF:diskConfig': 'AUTO',
      accessIPv4: '192.0.2.9',
      accessIPv6: '2001:db8::9',
      description: 'new',
      hostname: 'guest',
    };
    const responded = await put(fields);
    expect(responded.status).toBe(200);
    const { hostname, ...shown } = fields;
    expect(responded.body.server).toMatchObject({ ...shown, 'OS-EXT-SRV-ATTR:hostname': hostname });
    expect((await put({ name: 'again' })).body.server).toMatchObject({ ...shown, name: 'again' });
    expect((await put({ description: null })).body.server.description).toBeNull();
    expect((await ada.get(`/servers/${id}`)).body.server.name).toBe('again');
  });

  it.each([
    ['description', 'x', '2.18', '2.19'],
    ['hostname', 'ab', '2.89', '2.90'],
    ['hostname', 'a.b', '2.93', '2.94'],
    ['pinned_availability_zone', null, '2.103', '2.104'],
  ])('rejects %s %j at %s, and accepts it at %s', async (field, value, before, first) => {
    expect((await put({ [field]: value }, before)).status).toBe(400);
    expect((await put({ [field]: value }, first)).status).toBe(200);
  });

  it.each([
    [{ name: '' }],
    [{ name: ' x' }],
    [{ name: 'x'.repeat(256) }],
    [{ accessIPv4: '' }],
    [{ accessIPv4: '::1' }],
    [{ accessIPv6: '1.2.3.4' }],
    [{ 'OS-DCF:diskConfig': 'auto' }],
    [{ description: '\u0007' }],
    [{ hostname: 'a b' }],
    [{ flavorRef: '1' }],
  ])('rejects %j with 400', async (fields) => {
    expect((await put(fields)).status).toBe(400);
  });

  it('returns 404 for servers of other projects and for unknown ones', async () => {
    expect((await put({ name: 'x' }, '2.1', 'bob:p2')).status).toBe(404);
    expect((await ada.put('/servers/nothing', { server: { name: 'x' } })).status).toBe(404);
  });

  it('is allowed for locked servers, and while an action is in progress', async () => {
    const context = {
      caller: { userId: 'root', projectId: 'p0', roles: ['admin'], isAdmin: true },
      requestId: 'req-l',
      isAdmin: true,
    };
    await api.engine.servers.lock(context, id, null);
    expect((await put({ name: 'locked' })).status).toBe(200);
    await api.engine.servers.unlock({ ...context, requestId: 'req-u' }, id);
    const created = (await ada.post('/servers', { server: plain })).body.server;
    expect((await ada.put(`/servers/${created.id}`, { server: { name: 'early' } })).body.server.name).toBe('early');
    await api.idle();
    expect((await ada.get(`/servers/${created.id}`)).body.server).toMatchObject({ name: 'early', status: 'ACTIVE' });
  });

  it('pins an unpinned server to its current zone, and unpins it', async () => {
    const pin = async (zone: string | null) => {
      const { status, body } = await put({ pinned_availability_zone: zone }, '2.104');
      return [status, status === 200 ? body.server.pinned_availability_zone : body.conflictingRequest.code];
    };
    const zone = (await ada.get(`/servers/${id}`)).body.server['OS-EXT-AZ:availability_zone'];
    const other = zone === 'east' ? 'west' : 'east';
    expect(await pin(other)).toEqual([409, 409]);
    expect(await pin(zone)).toEqual([200, zone]);
    expect(await pin(zone)).toEqual([200, zone]);
    expect(await pin(other)).toEqual([409, 409]);
    expect(await pin(null)).toEqual([200, null]);
    expect(await pin(null)).toEqual([200, null]);
  });
});

describe('the state of a server’s host', () => {
  it('is shown to administrators as it changes', async () => {
    const api = await cloud();
    const admin = api.as('admin:p1', '2.100');
    const { id, 'OS-EXT-SRV-ATTR:host': host } = await admin.boot();
    const [service] = (await admin.get(`/os-services?host=${host}`)).body.services;
    const status = async () => (await admin.get(`/servers/${id}`)).body.server.host_status;
    const list = async () => (await admin.get('/servers/detail')).body.servers[0].host_status;
    expect([await status(), await list()]).toEqual(['UP', 'UP']);
    await admin.put(`/os-services/${service.id}`, { status: 'disabled' });
    expect([await status(), await list()]).toEqual(['MAINTENANCE', 'MAINTENANCE']);
    await admin.put(`/os-services/${service.id}`, { forced_down: true });
    expect([await status(), await list()]).toEqual(['DOWN', 'DOWN']);
    expect((await api.as('ada:p1', '2.100').get(`/servers/${id}`)).body.server).not.toHaveProperty('host_status');
    await api.close();
  });
});
