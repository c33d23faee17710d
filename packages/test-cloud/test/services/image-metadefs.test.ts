import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, IMAGE } from '../clouds.js';

async function images() {
  const cloud = await cloudUnderTest();
  const request = clientOf(cloud);
  const member = clientOf(cloud, cloud.token('demo', 'demo'));
  const at = (path: string) => `/image/v2/${path}`;
  return { request, member, at };
}

const NAMESPACES = 'metadefs/namespaces';

describe('metadata definitions', () => {
  it('have namespaces that administrators create, change and remove', async () => {
    const { request, member, at } = await images();
    const given = { namespace: 'OS::Test', display_name: 'Test', visibility: 'public', protected: true };
    expect((await member('POST', at(NAMESPACES), given)).status).toBe(403);
    const created = await request('POST', at(NAMESPACES), given);
    expect(created).toMatchObject({ status: 201, body: { ...given, self: `/v2/${NAMESPACES}/OS::Test` } });
    expect((await request('POST', at(NAMESPACES), given)).status).toBe(409);
    expect((await member('GET', at(NAMESPACES))).body.namespaces).toMatchObject([given]);
    expect((await request('DELETE', at(`${NAMESPACES}/OS::Test`))).status).toBe(403);
    const change = { namespace: 'OS::Other', visibility: 'private', protected: false };
    expect((await request('PUT', at(`${NAMESPACES}/OS::Test`), change)).body).toMatchObject(change);
    expect((await request('GET', at(`${NAMESPACES}/OS::Test`))).status).toBe(404);
    const elsewhere = await request('PUT', at(`${NAMESPACES}/OS::Other`), { ...change, owner: 'lab' });
    expect(elsewhere.status).toBe(200);
    expect((await member('GET', at(`${NAMESPACES}/OS::Other`))).status).toBe(404);
    expect((await request('DELETE', at(`${NAMESPACES}/OS::Other`))).status).toBe(204);
  });

  it.each([
    ['objects', 'object', { name: 'disk', properties: { bus: { title: 'Bus', type: 'string' } } }, { name: 'drive' }],
    [
      'properties',
      'property',
      { name: 'bus', title: 'Bus', type: 'string' },
      { name: 'bus', title: 'B', type: 'string' },
    ],
    ['tags', 'tag', { name: 'fast' }, { name: 'quick' }],
  ])('contain %s', async (kind, _one, given, change) => {
    const { request, at } = await images();
    await request('POST', at(NAMESPACES), { namespace: 'N' });
    const path = at(`${NAMESPACES}/N/${kind}`);
    const created = await (kind === 'tags' ? request('POST', `${path}/${given.name}`) : request('POST', path, given));
    expect(created).toMatchObject({ status: 201, body: given });
    expect((await request('GET', `${path}/${given.name}`)).body).toMatchObject(given);
    const full = (await request('GET', at(`${NAMESPACES}/N`))).body;
    expect(JSON.stringify(full[kind])).toContain(given.name);
    expect(await request('PUT', `${path}/${given.name}`, change)).toMatchObject({ status: 200, body: change });
    expect((await request('DELETE', `${path}/${change.name}`)).status).toBe(204);
    expect((await request('GET', `${path}/${change.name}`)).status).toBe(404);
  });

  it('replace all tags in one request', async () => {
    const { request, at } = await images();
    await request('POST', at(NAMESPACES), { namespace: 'N' });
    const path = at(`${NAMESPACES}/N/tags`);
    const tags = ['a', 'b'].map((name) => ({ name }));
    expect(await request('POST', path, { tags })).toMatchObject({ status: 201, body: { tags } });
    expect((await request('GET', path)).body.tags).toMatchObject(tags);
    expect((await request('DELETE', path)).status).toBe(204);
    expect((await request('GET', path)).body.tags).toEqual([]);
  });

  it('list their resource types', async () => {
    const { request, at } = await images();
    await request('POST', at(NAMESPACES), { namespace: 'N' });
    const path = at(`${NAMESPACES}/N/resource_types`);
    const name = (await request('GET', at('metadefs/resource_types'))).body.resource_types[0].name;
    expect((await request('POST', path, { name, prefix: 'hw_' })).status).toBe(201);
    expect((await request('GET', path)).body.resource_type_associations).toMatchObject([{ name, prefix: 'hw_' }]);
    expect((await request('DELETE', `${path}/${name}`)).status).toBe(204);
    expect((await request('GET', path)).body.resource_type_associations).toEqual([]);
    for (const [schema, title] of [
      ['resource_type', 'resource_type_association'],
      ['resource_types', 'resource_type_associations'],
      ['namespaces', 'namespaces'],
    ])
      expect((await request('GET', at(`schemas/metadefs/${schema}`))).body.name).toBe(title);
  });
});

describe('lists of metadata definitions', () => {
  it('have pages, filters and an order', async () => {
    const { request, at } = await images();
    for (const namespace of ['a', 'b', 'c'])
      await request('POST', at(NAMESPACES), {
        namespace,
        visibility: namespace === 'b' ? 'private' : 'public',
        ...(namespace === 'c' && { resource_type_associations: [{ name: 'OS::Nova::Flavor' }] }),
      });
    const names = async (query: string) =>
      (await request('GET', at(`${NAMESPACES}?${query}`))).body.namespaces.map((one: any) => one.namespace);
    expect(await names('sort_key=namespace&sort_dir=asc')).toEqual(['a', 'b', 'c']);
    expect(await names('sort_key=namespace&sort_dir=desc&marker=c')).toEqual(['b', 'a']);
    expect(await names('visibility=private')).toEqual(['b']);
    expect(await names('resource_types=OS::Nova::Flavor,OS::Other')).toEqual(['c']);
    const page = (await request('GET', at(`${NAMESPACES}?sort_key=namespace&sort_dir=asc&limit=2`))).body;
    expect(page.next).toBe(`/v2/${NAMESPACES}?sort_key=namespace&sort_dir=asc&limit=2&marker=b`);
    expect((await request('GET', `/image${page.next}`)).body).toMatchObject({ namespaces: [{ namespace: 'c' }] });
  });

  it('append tags on request', async () => {
    const { request, at } = await images();
    await request('POST', at(NAMESPACES), { namespace: 'N' });
    const path = at(`${NAMESPACES}/N/tags`);
    const post = (name: string, append: string) =>
      request('POST', path, { tags: [{ name }] }, { 'X-OpenStack-Append': append });
    await post('a', 'False');
    await post('b', 'True');
    expect((await request('GET', `${path}?sort_key=name&sort_dir=asc`)).body.tags).toEqual([
      { name: 'a' },
      { name: 'b' },
    ]);
    expect((await request('GET', `${path}?sort_key=name&sort_dir=asc&limit=1&marker=a`)).body.tags).toEqual([
      { name: 'b' },
    ]);
    expect((await post('a', 'True')).status).toBe(409);
    await post('c', '');
    expect((await request('GET', path)).body.tags).toEqual([{ name: 'c' }]);
  });

  it('show the names that properties have for a resource type', async () => {
    const { request, at } = await images();
    const bus = { title: 'Bus', type: 'string' };
    await request('POST', at(NAMESPACES), {
      namespace: 'N',
      properties: { bus },
      objects: [{ name: 'disk', required: ['size'], properties: { size: bus } }],
      resource_type_associations: [{ name: 'OS::Nova::Flavor', prefix: 'hw:' }],
    });
    const path = at(`${NAMESPACES}/N`);
    const { properties, objects } = (await request('GET', `${path}?resource_type=OS::Nova::Flavor`)).body;
    expect(properties).toEqual({ 'hw:bus': bus });
    expect(objects).toMatchObject([{ required: ['hw:size'], properties: { 'hw:size': bus } }]);
    expect((await request('GET', `${path}/properties/hw:bus?resource_type=OS::Nova::Flavor`)).body).toEqual({
      name: 'bus',
      ...bus,
    });
  });

  it('contain the resource types of associations', async () => {
    const { request, at } = await images();
    await request('POST', at(NAMESPACES), { namespace: 'N', resource_type_associations: [{ name: 'OS::Own' }] });
    const types = (await request('GET', at('metadefs/resource_types'))).body.resource_types;
    expect(types.map((type: any) => type.name)).toContain('OS::Own');
  });

  it('are not created if a part of a namespace is invalid', async () => {
    const { request, at } = await images();
    for (const [parts, status] of [
      [{ objects: [{}] }, 400],
      [{ tags: [{ name: 'a' }, { name: 'a' }] }, 409],
      [{ properties: { bus: { title: 'Bus' } } }, 400],
    ] as const)
      expect((await request('POST', at(NAMESPACES), { namespace: 'N', ...parts })).status).toBe(status);
    expect((await request('GET', at(NAMESPACES))).body.namespaces).toEqual([]);
  });
});

describe('the content of images', () => {
  it('is empty while an image is queued, and is then in a store', async () => {
    const { request, at } = await images();
    const formats = { disk_format: 'raw', container_format: 'bare' };
    const { id, stores } = (await request('POST', at('images'), { name: 'n', ...formats })).body;
    expect(stores).toBeUndefined();
    expect((await request('GET', at(`images/${id}/file`))).status).toBe(204);
    const storeIds = (await request('GET', at('info/stores'))).body.stores.map((store: any) => store.id);
    expect(storeIds).toContain((await request('GET', at(`images/${IMAGE}`))).body.stores);
  });
});
