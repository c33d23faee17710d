import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

const facts = JSON.parse(readFileSync(new URL('../../../../reference/image.json', import.meta.url), 'utf8')) as {
  readonly reserved: {
    readonly names: readonly string[];
    readonly allowed: readonly string[];
    readonly status: number;
    readonly message: string;
  };
  readonly imported: Readonly<Record<'success' | 'failure', Readonly<Record<string, string>>>>;
  readonly copied: { readonly status: number; readonly tasks: number; readonly properties: readonly string[] };
};

const PATCH = { 'Content-Type': 'application/openstack-images-v2.1-json-patch' };
const FORMATS = { disk_format: 'raw', container_format: 'bare' };

async function images() {
  const cloud = await cloudUnderTest();
  const request = clientOf(cloud);
  const create = (fields: object) => request('POST', '/image/v2/images', { name: 'i', ...FORMATS, ...fields });
  const change = (id: string, path: string) =>
    request('PATCH', `/image/v2/images/${id}`, [{ op: 'add', path: `/${path}`, value: 'x' }], PATCH);
  const load = (id: string, method: object, rest: object = {}) =>
    request('POST', `/image/v2/images/${id}/import`, { method, ...rest });
  const shown = async (id: string) => (await request('GET', `/image/v2/images/${id}`)).body;
  const importPropertiesOf = async (id: string) =>
    Object.fromEntries(Object.entries(await shown(id)).filter(([key]) => key.startsWith('os_glance')));
  return { cloud, request, create, change, load, shown, importPropertiesOf: importPropertiesOf };
}

describe('properties of images', () => {
  it.each(facts.reserved.names)('cannot have the reserved name %s', async (name) => {
    const { create, change, shown } = await images();
    const rejected = await create({ [name]: 'x' });
    const { id } = (await create({})).body;
    const unchanged = await change(id, name);
    for (const { status, body } of [rejected, unchanged]) {
      expect(status).toBe(facts.reserved.status);
      expect(body.replaceAll(/&#x27;|&#39;/g, "'")).toContain(facts.reserved.message.replace('%s', name));
    }
    expect(await shown(id)).not.toHaveProperty(name);
  });

  it.each(facts.reserved.allowed)('can have the name %s', async (name) => {
    const { create, change, shown } = await images();
    expect(await create({ [name]: 'x' })).toMatchObject({ status: 201, body: { [name]: 'x' } });
    const { id } = (await create({})).body;
    expect((await change(id, name)).status).toBe(200);
    expect(await shown(id)).toMatchObject({ [name]: 'x' });
  });

  it('show that an import has ended, and whether it failed', async () => {
    const { cloud, request, create, load, importPropertiesOf } = await images();
    const { id } = (await create({})).body;
    const [{ id: store }] = (await request('GET', '/image/v2/info/stores')).body.stores;
    const expected = (form: 'success' | 'failure') =>
      Object.fromEntries(
        Object.entries(facts.imported[form]).map(([name, value]) => [name, value.replace('%store%', store)]),
      );
    expect(await importPropertiesOf(id)).toEqual({});
    await load(id, { name: 'web-download', uri: `${cloud.url}/missing` });
    expect(await importPropertiesOf(id)).toEqual(expected('failure'));
    await load(id, { name: 'web-download', uri: `${cloud.url}/identity/v3` });
    expect(await importPropertiesOf(id)).toEqual(expected('success'));
  });

  it('do not change when an image is copied to stores that all have it', async () => {
    const { cloud, request, create, load, importPropertiesOf } = await images();
    const { id } = (await create({})).body;
    await fetch(`${cloud.url}/image/v2/images/${id}/file`, {
      method: 'PUT',
      headers: { 'X-Auth-Token': cloud.token(), 'Content-Type': 'application/octet-stream' },
      body: 'bytes',
    });
    expect((await load(id, { name: 'copy-image' }, { all_stores: true })).status).toBe(facts.copied.status);
    expect(Object.keys(await importPropertiesOf(id))).toEqual(facts.copied.properties);
    expect((await request('GET', `/image/v2/images/${id}/tasks`)).body.tasks).toHaveLength(facts.copied.tasks);
  });
});
