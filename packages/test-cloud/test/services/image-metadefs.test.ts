import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, IMAGE } from '../clouds.js';

async function images() {
  const cloud = await cloudUnderTest();
  const ask = clientOf(cloud);
  const member = clientOf(cloud, cloud.token('demo', 'demo'));
  const at = (path: string) => `/image/v2/${path}`;
  return { ask, member, at };
}

const NAMESPACES = 'metadefs/namespaces';

describe('metadata definitions', () => {
  it('have namespaces that administrators create, change and remove', async () => {
    const { ask, member, at } = await images();
    const given = { namespace: 'OS::Test', display_name: 'Test', visibility: 'public', protected: true };
    expect((await member('POST', at(NAMESPACES), given)).status).toBe(403);
    const made = await ask('POST', at(NAMESPACES), given);
    expect(made).toMatchObject({ status: 201, body: { ...given, self: `/v2/${NAMESPACES}/OS::Test` } });
    expect((await ask('POST', at(NAMESPACES), given)).status).toBe(409);
    expect((await member('GET', at(NAMESPACES))).body.namespaces).toMatchObject([given]);
    expect((await ask('DELETE', at(`${NAMESPACES}/OS::Test`))).status).toBe(403);
    const change = { namespace: 'OS::Other', visibility: 'private', protected: false };
    expect((await ask('PUT', at(`${NAMESPACES}/OS::Test`), change)).body).toMatchObject(change);
    expect((await ask('GET', at(`${NAMESPACES}/OS::Test`))).status).toBe(404);
    const elsewhere = await ask('PUT', at(`${NAMESPACES}/OS::Other`), { ...change, owner: 'lab' });
    expect(elsewhere.status).toBe(200);
    expect((await member('GET', at(`${NAMESPACES}/OS::Other`))).status).toBe(404);
    expect((await ask('DELETE', at(`${NAMESPACES}/OS::Other`))).status).toBe(204);
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
    const { ask, at } = await images();
    await ask('POST', at(NAMESPACES), { namespace: 'N' });
    const path = at(`${NAMESPACES}/N/${kind}`);
    const made = await (kind === 'tags' ? ask('POST', `${path}/${given.name}`) : ask('POST', path, given));
    expect(made).toMatchObject({ status: 201, body: given });
    expect((await ask('GET', `${path}/${given.name}`)).body).toMatchObject(given);
    const whole = (await ask('GET', at(`${NAMESPACES}/N`))).body;
    expect(JSON.stringify(whole[kind])).toContain(given.name);
    expect(await ask('PUT', `${path}/${given.name}`, change)).toMatchObject({ status: 200, body: change });
    expect((await ask('DELETE', `${path}/${change.name}`)).status).toBe(204);
    expect((await ask('GET', `${path}/${change.name}`)).status).toBe(404);
  });

  it('take several tags in the place of all', async () => {
    const { ask, at } = await images();
    await ask('POST', at(NAMESPACES), { namespace: 'N' });
    const path = at(`${NAMESPACES}/N/tags`);
    const tags = ['a', 'b'].map((name) => ({ name }));
    expect(await ask('POST', path, { tags })).toMatchObject({ status: 201, body: { tags } });
    expect((await ask('GET', path)).body.tags).toMatchObject(tags);
    expect((await ask('DELETE', path)).status).toBe(204);
    expect((await ask('GET', path)).body.tags).toEqual([]);
  });

  it('say which resource types they are for', async () => {
    const { ask, at } = await images();
    await ask('POST', at(NAMESPACES), { namespace: 'N' });
    const path = at(`${NAMESPACES}/N/resource_types`);
    const name = (await ask('GET', at('metadefs/resource_types'))).body.resource_types[0].name;
    expect((await ask('POST', path, { name, prefix: 'hw_' })).status).toBe(201);
    expect((await ask('GET', path)).body.resource_type_associations).toMatchObject([{ name, prefix: 'hw_' }]);
    expect((await ask('DELETE', `${path}/${name}`)).status).toBe(204);
    expect((await ask('GET', path)).body.resource_type_associations).toEqual([]);
    for (const [schema, title] of [
      ['resource_type', 'resource_type_association'],
      ['resource_types', 'resource_type_associations'],
      ['namespaces', 'namespaces'],
    ])
      expect((await ask('GET', at(`schemas/metadefs/${schema}`))).body.name).toBe(title);
  });
});

describe('the content of images', () => {
  it('is empty while an image is queued, and in a store afterwards', async () => {
    const { ask, at } = await images();
    const formats = { disk_format: 'raw', container_format: 'bare' };
    const { id, stores } = (await ask('POST', at('images'), { name: 'n', ...formats })).body;
    expect(stores).toBeUndefined();
    expect((await ask('GET', at(`images/${id}/file`))).status).toBe(204);
    const known = (await ask('GET', at('info/stores'))).body.stores.map((store: any) => store.id);
    expect(known).toContain((await ask('GET', at(`images/${IMAGE}`))).body.stores);
  });
});
