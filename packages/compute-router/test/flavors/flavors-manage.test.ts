import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';

describe('the management of flavors', () => {
  let api: Api;
  let number = 0;
  let name: string;
  beforeAll(async () => {
    api = await apiUnderTest({ router: { maxVersion: '2.104' } });
  });
  afterAll(() => api.close());
  beforeEach(() => {
    name = `flavor-${++number}`;
  });

  const admin = (version?: string) => api.as('admin:p1', version);
  const min = () => ({ name, ram: 64, vcpus: 1, disk: 0 });
  const create = (fields: Record<string, unknown> = {}, version = '2.1') =>
    admin(version).post('/flavors', { flavor: { ...min(), ...fields } });

  it('creates a flavor with status 200 and shows it as show does', async () => {
    const created = await create({ id: `id-${name}`, 'OS-FLV-EXT-DATA:ephemeral': 3, swap: 512, rxtx_factor: 1.5 });
    expect(created.status).toBe(200);
    expect(created.body.flavor).toEqual({
      id: `id-${name}`,
      name,
      ram: 64,
      vcpus: 1,
      disk: 0,
      swap: 512,
      rxtx_factor: 1.5,
      'OS-FLV-EXT-DATA:ephemeral': 3,
      'OS-FLV-DISABLED:disabled': false,
      'os-flavor-access:is_public': true,
      links: [
        { rel: 'self', href: `${api.url}/v2.1/flavors/id-${name}` },
        { rel: 'bookmark', href: `${api.url}/flavors/id-${name}` },
      ],
    });
    expect((await admin().get(`/flavors/id-${name}`)).body).toEqual(created.body);
  });

  const base = [
    'OS-FLV-EXT-DATA:ephemeral',
    'disk',
    'id',
    'links',
    'name',
    'os-flavor-access:is_public',
    'ram',
    'swap',
    'vcpus',
  ];
  const old = ['OS-FLV-DISABLED:disabled', 'rxtx_factor'];
  it.each([
    ['2.1', [...base, ...old]],
    ['2.54', [...base, ...old]],
    ['2.55', [...base, ...old, 'description']],
    ['2.60', [...base, ...old, 'description']],
    ['2.61', [...base, ...old, 'description', 'extra_specs']],
    ['2.101', [...base, ...old, 'description', 'extra_specs']],
    ['2.102', [...base, 'description', 'extra_specs']],
    ['2.104', [...base, 'description', 'extra_specs']],
  ])('shows at %s the fields of that version when it creates, shows, changes and lists', async (version, fields) => {
    const created = await create({}, version);
    const { id } = created.body.flavor;
    expect(Object.keys(created.body.flavor).sort()).toEqual([...fields].sort());
    const shown = await admin(version).get(`/flavors/${id}`);
    const inList = (await admin(version).get('/flavors/detail')).body.flavors.find((f: any) => f.id === id);
    for (const flavor of [shown.body.flavor, inList]) expect(flavor).toEqual(created.body.flavor);
    const shownToMember = await api.as('ada:p1', version).get(`/flavors/${id}`);
    expect(Object.keys(shownToMember.body.flavor).sort()).toEqual([...fields].sort());
    const brief = (await admin(version).get('/flavors')).body.flavors.find((f: any) => f.id === id);
    const description = fields.includes('description') ? ['description'] : [];
    expect(Object.keys(brief).sort()).toEqual([...description, 'id', 'links', 'name']);
  });

  it.each([
    ['2.74', ''],
    ['2.75', 0],
  ])('shows no swap at %s as %j', async (version, shown) => {
    const { body } = await create({}, version);
    expect(body.flavor.swap).toBe(shown);
    expect((await admin(version).get(`/flavors/${body.flavor.id}`)).body.flavor.swap).toBe(shown);
  });

  it.each([
    ['2.1', 400],
    ['2.54', 400],
    ['2.55', 200],
    ['2.104', 200],
  ])('handles a description at %s with status %i', async (version, status) => {
    expect((await create({ description: 'fast' }, version)).status).toBe(status);
  });

  it.each([
    ['2.1', 200],
    ['2.101', 200],
    ['2.102', 400],
  ])('handles a network factor at %s with status %i', async (version, status) => {
    expect((await create({ rxtx_factor: '2.5' }, version)).status).toBe(status);
  });

  it.each([
    ['left out', undefined, /^[0-9a-f-]{36}$/],
    ['null', null, /^[0-9a-f-]{36}$/],
    ['a number', 4711.5, /^4711\.5$/],
    ['a text', 'A b.c_d-e', /^A b\.c_d-e$/],
  ])('generates an id if it is %s', async (_, id, expected) => {
    const { status, body } = await create({ id });
    expect(status).toBe(200);
    expect(body.flavor.id).toMatch(expected);
  });

  it('accepts decimal strings for numbers and spellings of booleans', async () => {
    const texts = { ram: '128', vcpus: '2', disk: '1', swap: '1', 'os-flavor-access:is_public': 'False' };
    expect((await create(texts)).body.flavor).toMatchObject({
      ram: 128,
      vcpus: 2,
      disk: 1,
      swap: 1,
      'os-flavor-access:is_public': false,
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ['no name', { name: undefined }],
    ['an empty name', { name: '' }],
    ['a name of 256', { name: 'x'.repeat(256) }],
    ['a name that begins with a blank', { name: ' x' }],
    ['a name with a line break', { name: 'a\nb' }],
    ['an empty id', { id: '' }],
    ['an id with an outer blank', { id: ' x' }],
    ['an id with a slash', { id: 'a/b' }],
    ['an id of 256', { id: 'x'.repeat(256) }],
    ['no memory', { ram: undefined }],
    ['memory 0', { ram: 0 }],
    ['memory of 2^31', { ram: 2_147_483_648 }],
    ['memory and a half', { ram: 1.5 }],
    ['no CPUs', { vcpus: 0 }],
    ['a negative disk', { disk: -1 }],
    ['a disk in words', { disk: 'ten' }],
    ['negative swap', { swap: -1 }],
    ['a negative ephemeral disk', { 'OS-FLV-EXT-DATA:ephemeral': -1 }],
    ['a network factor of 0', { rxtx_factor: 0 }],
    ['a network factor of "0"', { rxtx_factor: '0' }],
    ['a network factor beyond all bounds', { rxtx_factor: 1e39 }],
    ['something between public and private', { 'os-flavor-access:is_public': 'maybe' }],
    ['an unknown field', { colour: 'red' }],
  ])('rejects %s', async (_, fields) => {
    const rejected = await create(fields);
    expect(rejected.status).toBe(400);
    expect(rejected.body.badRequest.code).toBe(400);
  });

  it('rejects a name and an id in use, and accepts them after a deletion', async () => {
    const { id } = (await create({ id: `x-${name}` })).body.flavor;
    const sameName = await create();
    expect(sameName.status).toBe(409);
    expect(sameName.body.conflictingRequest.message).toContain(name);
    expect((await create({ name: `${name}-2`, id })).status).toBe(409);
    expect((await admin().delete(`/flavors/${id}`)).status).toBe(202);
    expect((await admin().get(`/flavors/${id}`)).status).toBe(404);
    expect((await create({ id })).status).toBe(200);
  });

  it('creates one of many concurrent flavors with the same name', async () => {
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => create()))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, ...Array(7).fill(409)]);
  });

  it('changes the description, and nothing else', async () => {
    const { id } = (await create()).body.flavor;
    const change = (flavor: object) => admin('2.55').put(`/flavors/${id}`, { flavor });
    const changed = await change({ description: 'x'.repeat(65535) });
    expect(changed.status).toBe(200);
    expect(changed.body.flavor.description).toHaveLength(65535);
    expect((await change({ description: null })).body.flavor.description).toBeNull();
    for (const wrong of [{}, { description: 'x'.repeat(65536) }, { description: 5 }, { description: 'a', name: 'b' }])
      expect((await change(wrong)).status).toBe(400);
    expect((await admin('2.55').put('/flavors/nowhere', { flavor: { description: 'x' } })).status).toBe(404);
    expect((await admin('2.54').put(`/flavors/${id}`, { flavor: { description: 'x' } })).status).toBe(404);
  });

  it('returns 404 for the deletion of an unknown flavor', async () => {
    const response = await admin().delete('/flavors/nowhere');
    expect([response.status, response.body.itemNotFound.code]).toEqual([404, 404]);
  });

  it('does not change the copies of a deleted flavor in servers', async () => {
    const { id } = (await create({ disk: 1, ram: 512 })).body.flavor;
    const server = await api.as('ada:p1', '2.47').boot({ flavorRef: id });
    await admin().delete(`/flavors/${id}`);
    const shown = await api.as('ada:p1', '2.47').get(`/servers/${server.id}`);
    expect(shown.body.server.flavor.original_name).toBe(name);
  });

  it('is denied to members, who change nothing', async () => {
    const ada = api.as('ada:p1', '2.100');
    const { id } = (await create()).body.flavor;
    expect((await ada.post('/flavors', { flavor: min() })).status).toBe(403);
    expect((await ada.put(`/flavors/${id}`, { flavor: { description: 'mine' } })).status).toBe(403);
    const rejected = await ada.delete(`/flavors/${id}`);
    expect(rejected.status).toBe(403);
    expect(rejected.body.forbidden.message).toBe(
      "Policy doesn't allow os_compute_api:os-flavor-manage:delete to be performed.",
    );
    expect((await admin('2.55').get(`/flavors/${id}`)).body.flavor.description).toBeNull();
    expect((await ada.delete('/flavors/nowhere')).status).toBe(403);
  });
});
