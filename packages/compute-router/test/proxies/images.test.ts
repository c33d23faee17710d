import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest, ids } from '../api-under-test.js';

const own = '11111111-1111-4111-8111-111111111111';
const ada = { userId: 'ada', projectId: 'p1', roles: ['member', 'reader'] };

describe('images until 2.35', () => {
  let api: Api;
  let serverId: string;
  beforeAll(async () => {
    api = await apiUnderTest();
    serverId = (await api.as('ada:p1', '2.35').boot()).id;
    const { images } = api.engine.catalogs;
    await images.create(ada, {
      id: own,
      name: 'mine',
      minRamMb: 256,
      minDiskGb: 3,
      properties: { image_type: 'snapshot', instance_uuid: serverId, auto_disk_config: 'True', colour: 'blue' },
    });
  });
  afterAll(() => api.close());

  const get = (path: string, token = 'ada:p1') => api.as(token, '2.35').get(path);

  it('are listed, with three links each', async () => {
    const { status, body } = await get('/images');
    expect(status).toBe(200);
    expect(body.images.map(({ name }: any) => name).sort()).toEqual(['cirros', 'mine']);
    expect(body.images.find(({ id }: any) => id === own)).toEqual({
      id: own,
      name: 'mine',
      links: [
        { rel: 'self', href: `${api.url}/v2.1/images/${own}` },
        { rel: 'bookmark', href: `${api.url}/images/${own}` },
        { rel: 'alternate', type: 'application/vnd.openstack.image', href: expect.stringContaining(own) },
      ],
    });
    expect((await get('/images', 'bob:p2')).body.images.map(({ name }: any) => name)).toEqual(['cirros']);
  });

  it('are shown in detail', async () => {
    const { image } = (await get(`/images/${own}`)).body;
    expect(image).toEqual({
      id: own,
      name: 'mine',
      links: expect.any(Array),
      status: 'SAVING',
      progress: 25,
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      updated: expect.stringMatching(/Z$/),
      minDisk: 3,
      minRam: 256,
      metadata: { image_type: 'snapshot', instance_uuid: serverId, auto_disk_config: 'True', colour: 'blue' },
      'OS-EXT-IMG-SIZE:size': 0,
      'OS-DCF:diskConfig': 'AUTO',
      server: {
        id: serverId,
        links: [
          { rel: 'self', href: `${api.url}/v2.1/servers/${serverId}` },
          { rel: 'bookmark', href: `${api.url}/servers/${serverId}` },
        ],
      },
    });
    const active = (await get(`/images/${ids.image}`)).body.image;
    expect(active).toMatchObject({ status: 'ACTIVE', progress: 100 });
    expect(active.metadata).toEqual({});
    expect(active).not.toHaveProperty('server');
    expect((await get('/images/detail')).body.images).toContainEqual(image);
    expect((await get('/images/nothing')).status).toBe(404);
    expect((await get(`/images/${own}`, 'bob:p2')).status).toBe(404);
  });

  it.each([
    ['name=mine', ['mine']],
    ['name=other', []],
    ['status=ACTIVE', ['cirros']],
    ['status=saving', ['mine']],
    ['status=nonsense', []],
    ['minRam=200', ['mine']],
    ['minDisk=4', []],
    ['type=snapshot', ['mine']],
    ['property-colour=blue', ['mine']],
    ['property-colour=red', []],
    ['changes-since=2001-01-01T00:00:00Z&unknown=1', ['cirros', 'mine']],
    ['changes-since=2999-01-01T00:00:00Z', []],
  ])('are filtered by %s', async (query, names) => {
    const { status, body } = await get(`/images/detail?${query}`);
    expect(status).toBe(200);
    expect(body.images.map(({ name }: any) => name).sort()).toEqual(names);
  });

  it('are filtered by their server, which may be a URL', async () => {
    for (const server of [serverId, `${api.url}/v2.1/servers/${serverId}`])
      expect((await get(`/images?server=${encodeURIComponent(server)}`)).body.images).toHaveLength(1);
  });

  it('are paged', async () => {
    const first = (await get('/images?limit=1')).body;
    expect(first.images).toHaveLength(1);
    expect(first.images_links[0].href).toContain(`limit=1&marker=${first.images[0].id}`);
    const second = (await get(`/images?page_size=1&marker=${first.images[0].id}`)).body;
    expect(second.images[0].id).not.toBe(first.images[0].id);
    expect((await get('/images?limit=9')).body).not.toHaveProperty('images_links');
    for (const query of ['limit=0', 'limit=x', 'marker=unknown', 'minRam=x', 'changes-since=x'])
      expect((await get(`/images?${query}`)).status).toBe(400);
  });

  it('have metadata until 2.38', async () => {
    const client = api.as('ada:p1', '2.38');
    const path = `/images/${own}/metadata`;
    const before = (await client.get(path)).body.metadata;
    expect(before.colour).toBe('blue');
    expect((await client.post(path, { metadata: { size: 'l' } })).body.metadata).toEqual({ ...before, size: 'l' });
    expect((await client.put(`${path}/size`, { meta: { size: 'm' } })).body).toEqual({ meta: { size: 'm' } });
    expect((await client.get(`${path}/size`)).body).toEqual({ meta: { size: 'm' } });
    expect((await client.put(`${path}/size`, { meta: { other: 'm' } })).status).toBe(400);
    expect((await client.put(`${path}/size`, { meta: { size: 'm', other: 'm' } })).status).toBe(400);
    expect((await client.put(`${path}/size`, { meta: {} })).status).toBe(400);
    expect((await client.delete(`${path}/size`)).status).toBe(204);
    expect((await client.delete(`${path}/size`)).status).toBe(404);
    expect((await client.get(`${path}/size`)).status).toBe(404);
    expect((await client.put(path, { metadata: { only: 'this' } })).body.metadata).toEqual({ only: 'this' });
    expect((await client.get(path)).body.metadata).toEqual({ only: 'this' });
    const many = Object.fromEntries(Array.from({ length: 129 }, (_, index) => [`k${index}`, 'v']));
    expect((await client.put(path, { metadata: many })).status).toBe(403);
    expect((await client.post(path, { metadata: many })).status).toBe(403);
    expect((await client.post(path, { metadata: { 'no/slash': 'v' } })).status).toBe(400);
    const public_ = `/images/${ids.image}/metadata`;
    expect((await client.post(public_, { metadata: { a: 'b' } })).status).toBe(403);
    expect((await client.put(public_, { metadata: { a: 'b' } })).status).toBe(403);
    expect((await client.put(`${public_}/a`, { meta: { a: 'b' } })).status).toBe(403);
    expect((await api.as('bob:p2', '2.38').get(path)).status).toBe(404);
    for (const removed of [path, `${path}/only`])
      expect((await api.as('ada:p1', '2.39').get(removed)).status).toBe(404);
  });

  it('are deleted by their owner', async () => {
    const client = api.as('ada:p1', '2.35');
    expect((await client.delete(`/images/${ids.image}`)).status).toBe(403);
    expect((await api.as('bob:p2', '2.35').delete(`/images/${own}`)).status).toBe(404);
    expect((await client.delete(`/images/${own}`)).status).toBe(204);
    expect((await client.delete(`/images/${own}`)).status).toBe(404);
  });

  it('never cause a 500, for any input', async () => {
    const client = api.as('admin:p1', '2.35');
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.json(), async (text, json) => {
        const names = ['name', 'status', 'server', 'type', 'marker', 'changes-since', 'minRam', 'limit'];
        for (const name of [...names, `property-${text}`])
          expect((await client.get(`/images?${new URLSearchParams({ [name]: text })}`)).status).toBeLessThan(500);
        const path = `/images/${ids.image}/metadata`;
        expect((await client.post(path, { metadata: JSON.parse(json) })).status).toBeLessThan(500);
        const item = `${path}/${encodeURIComponent(text) || 'x'}`;
        expect((await client.put(item, { meta: { [text]: 'x' } })).status).toBeLessThan(500);
      }),
      { numRuns: 40 },
    );
    expect(api.errors).toEqual([]);
  });
});
