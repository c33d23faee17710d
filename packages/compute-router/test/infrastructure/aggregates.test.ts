import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';

const image = '70a599e0-31e7-49b7-b260-868f441e862b';

describe('aggregates', () => {
  let api: Api;
  beforeEach(async () => {
    api = await apiUnderTest({ router: { maxVersion: '2.104' } });
  });
  afterEach(async () => {
    expect(api.errors).toEqual([]);
    await api.close();
  });

  const admin = (version?: string) => api.as('admin:p1', version);
  const add = (name: string, zone?: string | null) =>
    admin().post('/os-aggregates', { aggregate: { name, availability_zone: zone } });
  const createdId = async (name: string, zone?: string) => (await add(name, zone)).body.aggregate.id as number;
  const act = (id: number, action: string, argument: unknown) =>
    admin().post(`/os-aggregates/${id}/action`, { [action]: argument });
  const addHost = (id: number, host: string) => act(id, 'add_host', { host });
  const removeHost = (id: number, host: string) => act(id, 'remove_host', { host });
  const setMetadata = (id: number, metadata: unknown) => act(id, 'set_metadata', { metadata });
  const update = (id: number, aggregate: unknown) => admin().put(`/os-aggregates/${id}`, { aggregate });
  const show = async (id: number) => (await admin().get(`/os-aggregates/${id}`)).body.aggregate;
  /** Creates a server on a host; returns the host's name. */
  const occupied = async (zone?: string) => {
    const server = await admin('2.37').boot({ availability_zone: zone });
    return server['OS-EXT-SRV-ATTR:host'] as string;
  };

  const plain = ['availability_zone', 'created_at', 'deleted', 'deleted_at', 'id', 'name', 'updated_at'];
  it.each([
    ['2.40', []],
    ['2.41', ['uuid']],
    ['2.104', ['uuid']],
  ])('show at %s the fields of that version, when created without hosts and metadata', async (version, more) => {
    const created = await admin(version).post('/os-aggregates', { aggregate: { name: 'a', availability_zone: 'z' } });
    expect(created.status).toBe(200);
    const { aggregate } = created.body;
    expect(Object.keys(aggregate).sort()).toEqual([...plain, ...more].sort());
    expect(aggregate).toMatchObject({ name: 'a', availability_zone: 'z', deleted: false, deleted_at: null });
    expect(aggregate.updated_at).toBeNull();
    const shown = (await admin(version).get(`/os-aggregates/${aggregate.id}`)).body.aggregate;
    expect(shown).toEqual({ ...aggregate, hosts: [], metadata: { availability_zone: 'z' } });
    expect((await admin(version).get('/os-aggregates')).body).toEqual({ aggregates: [shown] });
    const changed = (await admin(version).put(`/os-aggregates/${aggregate.id}`, { aggregate: { name: 'b' } })).body;
    expect(Object.keys(changed.aggregate).sort()).toEqual(Object.keys(shown).sort());
    expect(changed.aggregate.updated_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
  });

  it.each([undefined, null])('are in no zone if it is %j when they are created', async (zone) => {
    expect((await add('a', zone)).body.aggregate.availability_zone).toBeNull();
    expect((await show(1)).metadata).toEqual({});
  });

  it.each<[string, unknown]>([
    ['no name', {}],
    ['an empty name', { name: '' }],
    ['a name that ends with a blank', { name: 'a ' }],
    ['a name of 256', { name: 'x'.repeat(256) }],
    ['a zone with a colon', { name: 'a', availability_zone: 'z:h' }],
    ['an empty zone', { name: 'a', availability_zone: '' }],
    ['a zone of 256', { name: 'a', availability_zone: 'x'.repeat(256) }],
    ['an unknown field', { name: 'a', colour: 'red' }],
    ['no object', 'a'],
  ])('are not created with %s', async (_, aggregate) => {
    expect((await admin().post('/os-aggregates', { aggregate })).status).toBe(400);
  });

  it('have unique names', async () => {
    const [a, b] = [await createdId('a'), await createdId('b')];
    expect((await add('a')).status).toBe(409);
    expect((await update(b, { name: 'a' })).status).toBe(409);
    expect((await update(a, { name: 'a' })).status).toBe(200);
    expect((await show(b)).name).toBe('b');
  });

  it('are found by number: other ids return 400, unknown ones 404', async () => {
    for (const [id, status] of [
      ['x', 400],
      ['1.5', 400],
      ['99', 404],
      ['-1', 404],
      ['123456789012345678', 404],
    ] as const) {
      const path = `/os-aggregates/${id}`;
      const responses = [
        await admin().get(path),
        await admin().delete(path),
        await admin().put(path, { aggregate: { name: 'z' } }),
        await admin().post(`${path}/action`, { add_host: { host: 'host1' } }),
        await admin().post(`${path}/action`, { remove_host: { host: 'host1' } }),
        await admin().post(`${path}/action`, { set_metadata: { metadata: {} } }),
        await admin('2.81').post(`${path}/images`, { cache: [{ id: image }] }),
      ];
      expect(responses.map((response) => response.status)).toEqual(responses.map(() => status));
    }
  });

  it.each<[string, unknown]>([
    ['nothing', {}],
    ['an empty name', { name: '' }],
    ['a blank name', { name: '   ' }],
    ['an empty zone', { availability_zone: '' }],
    ['no zone', { availability_zone: null }],
    ['a zone with a colon', { availability_zone: 'a:b' }],
    ['an unknown field', { colour: 'red' }],
  ])('are not changed by %s', async (_, change) => {
    const id = await createdId('a', 'z');
    expect((await update(id, change)).status).toBe(400);
    expect(await show(id)).toMatchObject({ name: 'a', availability_zone: 'z', updated_at: null });
  });

  it('are renamed without surrounding spaces', async () => {
    expect((await update(await createdId('a'), { name: '  b c ' })).body.aggregate.name).toBe('b c');
  });

  it('merge metadata, and null removes an item', async () => {
    const id = await createdId('a', 'z');
    await setMetadata(id, { ssd: 'true', size: '5' });
    const { status, body } = await setMetadata(id, { size: null, colour: '' });
    expect(status).toBe(200);
    expect(body.aggregate.metadata).toEqual({ availability_zone: 'z', ssd: 'true', colour: '' });
  });

  it.each<[string, unknown]>([
    ['a number', { a: 5 }],
    ['a value of 256', { a: 'x'.repeat(256) }],
    ['a key with a slash', { 'a/b': 'c' }],
    ['an empty key', { '': 'c' }],
    ['no object', 'a'],
    ['no zone', { availability_zone: null }],
    ['an empty zone', { availability_zone: '' }],
  ])('reject metadata of %s', async (_, metadata) => {
    const id = await createdId('a', 'z');
    expect((await setMetadata(id, metadata)).status).toBe(400);
    expect((await show(id)).metadata).toEqual({ availability_zone: 'z' });
  });

  it('store their zone as metadata, however it is set', async () => {
    const id = await createdId('a', 'z');
    expect((await update(id, { availability_zone: 'y' })).body.aggregate).toMatchObject({
      availability_zone: 'y',
      metadata: { availability_zone: 'y' },
    });
    expect((await setMetadata(id, { availability_zone: 'x' })).body.aggregate.availability_zone).toBe('x');
  });

  it('add and remove hosts, each once', async () => {
    const id = await createdId('a');
    const added = await addHost(id, 'host1');
    expect([added.status, added.body.aggregate.hosts]).toEqual([200, ['host1']]);
    expect((await addHost(id, 'host1')).status).toBe(409);
    expect((await addHost(id, 'nowhere')).status).toBe(404);
    expect((await addHost(id, 'controller')).status).toBe(404);
    expect((await removeHost(id, 'host2')).status).toBe(404);
    expect((await removeHost(id, 'nowhere')).status).toBe(404);
    const removed = await removeHost(id, 'host1');
    expect([removed.status, removed.body.aggregate.hosts]).toEqual([200, []]);
    for (const host of [undefined, '', 'a b', 5])
      for (const action of ['add_host', 'remove_host']) expect((await act(id, action, { host })).status).toBe(400);
  });

  it('can be deleted once they are empty', async () => {
    const id = await createdId('a');
    await addHost(id, 'host1');
    expect((await admin().delete(`/os-aggregates/${id}`)).status).toBe(400);
    await removeHost(id, 'host1');
    const removed = await admin().delete(`/os-aggregates/${id}`);
    expect([removed.status, removed.body]).toEqual([200, undefined]);
    expect((await admin().delete(`/os-aggregates/${id}`)).status).toBe(404);
    expect((await add('a')).status).toBe(200);
  });

  it('put a host in at most one zone', async () => {
    const [a, b, none] = [await createdId('a', 'za'), await createdId('b', 'zb'), await createdId('none')];
    await addHost(a, 'host1');
    await addHost(none, 'host1');
    expect((await addHost(b, 'host1')).status).toBe(409);
    expect((await setMetadata(none, { availability_zone: 'zb' })).status).toBe(400);
    expect((await update(none, { availability_zone: 'zb', name: 'new' })).status).toBe(400);
    expect((await show(none)).name).toBe('none');
    expect((await setMetadata(none, { availability_zone: 'za' })).status).toBe(200);
    expect((await update(a, { availability_zone: 'zc' })).status).toBe(400);
    expect((await update(b, { availability_zone: 'za' })).status).toBe(200);
    expect((await addHost(b, 'host1')).status).toBe(200);
  });

  it('do not move servers to another zone', async () => {
    const host = await occupied();
    const zone = await createdId('zone', 'z');
    const same = await createdId('same', 'nova');
    const none = await createdId('none');
    expect((await addHost(zone, host)).status).toBe(409);
    expect((await addHost(none, host)).status).toBe(200);
    expect((await addHost(same, host)).status).toBe(200);
    expect((await removeHost(same, host)).status).toBe(200);
    expect((await setMetadata(none, { availability_zone: 'z' })).status).toBe(400);
    expect((await update(none, { availability_zone: 'z' })).status).toBe(400);
    expect((await setMetadata(none, { other: 'x' })).status).toBe(200);
    expect((await removeHost(none, host)).status).toBe(200);
    const free = host === 'host1' ? 'host2' : 'host1';
    expect((await addHost(zone, free)).status).toBe(200);
  });

  it('keep a host with servers in the zone, unless another aggregate of the zone contains it', async () => {
    const [a, b] = [await createdId('a', 'z'), await createdId('b', 'z')];
    await addHost(a, 'host1');
    expect(await occupied('z')).toBe('host1');
    expect((await removeHost(a, 'host1')).status).toBe(409);
    expect((await update(a, { availability_zone: 'y' })).status).toBe(400);
    expect((await update(a, { availability_zone: 'z', name: 'renamed' })).status).toBe(200);
    await addHost(b, 'host1');
    expect((await removeHost(a, 'host1')).status).toBe(200);
    expect((await removeHost(b, 'host1')).status).toBe(409);
  });

  it('show their zone on servers immediately', async () => {
    const id = await createdId('a');
    await addHost(id, 'host1');
    await addHost(id, 'host2');
    await setMetadata(id, { availability_zone: 'north' });
    const { id: server } = await admin('2.37').boot();
    expect((await admin().get(`/servers/${server}`)).body.server['OS-EXT-AZ:availability_zone']).toBe('north');
  });

  it.each<[string, string, unknown, number]>([
    ['2.80', 'an image', [{ id: image }], 404],
    ['2.81', 'an image', [{ id: image }], 202],
    ['2.81', 'no image', [], 400],
    ['2.81', 'no list', { id: image }, 400],
    ['2.81', 'an image twice', [{ id: image }, { id: image }], 400],
    ['2.81', 'something without UUID', [{ id: 'cirros' }], 400],
    ['2.81', 'more than an id', [{ id: image, name: 'x' }], 400],
  ])('at %s cache %s: %s returns %i', async (version, _, cache, status) => {
    const id = await createdId('a');
    await addHost(id, 'host1');
    const result = await admin(version).post(`/os-aggregates/${id}/images`, { cache });
    expect(result.status).toBe(status);
    if (status === 202) expect(result.headers.get('content-length')).toBe('0');
  });

  it('are denied to members, who change nothing', async () => {
    const id = await createdId('a');
    const ada = api.as('ada:p1', '2.100');
    const results = [
      await ada.get('/os-aggregates'),
      await ada.get(`/os-aggregates/${id}`),
      await ada.post('/os-aggregates', { aggregate: { name: 'b' } }),
      await ada.put(`/os-aggregates/${id}`, { aggregate: { name: 'b' } }),
      await ada.post(`/os-aggregates/${id}/action`, { add_host: { host: 'host1' } }),
      await ada.post(`/os-aggregates/${id}/action`, { remove_host: { host: 'host1' } }),
      await ada.post(`/os-aggregates/${id}/action`, { set_metadata: { metadata: { a: 'b' } } }),
      await ada.post(`/os-aggregates/${id}/images`, { cache: [{ id: image }] }),
      await ada.delete(`/os-aggregates/${id}`),
      await ada.get('/os-aggregates/99'),
      await ada.get('/os-aggregates/x'),
    ];
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 403));
    expect((await admin().get('/os-aggregates')).body.aggregates).toEqual([await show(id)]);
    const unchanged = await show(id);
    expect(unchanged).toMatchObject({ name: 'a', hosts: [], updated_at: null });
    expect(unchanged.metadata).toEqual({});
  });
});
