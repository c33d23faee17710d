import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';

describe('extra specs of a flavor', () => {
  let api: Api;
  let number = 0;
  let path: string;
  beforeAll(async () => {
    api = await apiUnderTest();
  });
  afterAll(() => api.close());
  beforeEach(async () => {
    const id = `spec-${++number}`;
    await admin().post('/flavors', { flavor: { id, name: id, ram: 1, vcpus: 1, disk: 1 } });
    path = `/flavors/${id}/os-extra_specs`;
  });

  const admin = (version?: string) => api.as('admin:p1', version);
  const add = (specs: unknown, version?: string) => admin(version).post(path, { extra_specs: specs });

  it('are merged when they are added, and the response contains the request', async () => {
    expect((await admin().get(path)).body).toEqual({ extra_specs: {} });
    const added = await add({ a: '1', b: '2' });
    expect([added.status, added.body]).toEqual([200, { extra_specs: { a: '1', b: '2' } }]);
    expect((await add({ b: '3', 'c d:e.f-g_h': '' })).body).toEqual({ extra_specs: { b: '3', 'c d:e.f-g_h': '' } });
    expect((await admin().get(path)).body).toEqual({ extra_specs: { a: '1', b: '3', 'c d:e.f-g_h': '' } });
  });

  it('are read, set and removed one by one', async () => {
    const set = await admin().put(`${path}/a`, { a: 'x' });
    expect([set.status, set.body]).toEqual([200, { a: 'x' }]);
    expect((await admin().put(`${path}/a`, { a: 'y' })).body).toEqual({ a: 'y' });
    const got = await admin().get(`${path}/a`);
    expect([got.status, got.body]).toEqual([200, { a: 'y' }]);
    const removed = await admin().delete(`${path}/a`);
    expect([removed.status, removed.body]).toEqual([200, undefined]);
    expect((await admin().get(`${path}/a`)).status).toBe(404);
    expect((await admin().delete(`${path}/a`)).status).toBe(404);
  });

  it('store numbers as strings', async () => {
    expect((await add({ n: 5, half: 0.5 })).status).toBe(200);
    expect((await admin().get(path)).body.extra_specs).toEqual({ n: '5', half: '0.5' });
    await admin().put(`${path}/n`, { n: 6 });
    expect((await admin().get(`${path}/n`)).body).toEqual({ n: '6' });
  });

  it.each<[string, unknown]>([
    ['no object', 'x'],
    ['an empty key', { '': 'x' }],
    ['a key of 256', { ['x'.repeat(256)]: 'x' }],
    ['a key with a slash', { 'a/b': 'x' }],
    ['a value of 256', { a: 'x'.repeat(256) }],
    ['null', { a: null }],
    ['a boolean', { a: true }],
    ['an object in it', { a: {} }],
  ])('reject %s', async (_, specs) => {
    expect((await add(specs)).status).toBe(400);
  });

  it.each<[string, unknown]>([
    ['another key', { b: 'x' }],
    ['two keys', { a: 'x', b: 'x' }],
    ['no key', {}],
    ['a list', []],
  ])('are not set by a body with %s', async (_, body) => {
    expect((await admin().put(`${path}/a`, body)).status).toBe(400);
    expect((await admin().get(path)).body.extra_specs).toEqual({});
  });

  it('do not contain keys of Object.prototype unless they were set', async () => {
    expect((await admin().get(`${path}/constructor`)).status).toBe(404);
    expect((await admin().delete(`${path}/toString`)).status).toBe(404);
    expect((await admin().put(`${path}/constructor`, { constructor: 'x' })).status).toBe(200);
    expect((await admin().get(`${path}/constructor`)).body).toEqual({ constructor: 'x' });
  });

  it.each([
    ['trait:X', 'required', "Validation failed; extra spec 'trait:X' does not appear to be a valid extra spec."],
    ['hw:cpu_policy', 'sometimes', "Validation failed; extra spec 'hw:cpu_policy' must be one of"],
    ['hw:numa_nodes', '0', "Validation failed; extra spec 'hw:numa_nodes' must be"],
  ])('in a known namespace are validated since 2.86: %s=%s', async (key, value, message) => {
    expect((await add({ [key]: value }, '2.85')).status).toBe(200);
    expect((await admin('2.85').put(`${path}/${key}`, { [key]: value })).status).toBe(200);
    for (const rejected of [
      await add({ ok: '1', [key]: value }, '2.86'),
      await admin('2.86').put(`${path}/${key}`, { [key]: value }),
    ]) {
      expect(rejected.status).toBe(400);
      expect(rejected.body.badRequest.message).toContain(message);
    }
    expect((await admin().get(`${path}/ok`)).status).toBe(404);
  });

  it.each([
    ['hw:cpu_policy', 'dedicated'],
    ['trait:CUSTOM_GOLD', 'required'],
    ['trait:HW_CPU_X86_AVX', 'forbidden'],
    ['resources:VCPU', '0'],
    ['mine:anything', 'goes'],
    ['free', 'text'],
  ])('that are known, or in an unknown namespace, are accepted at 2.100: %s=%s', async (key, value) => {
    expect((await add({ [key]: value }, '2.100')).status).toBe(200);
  });

  it('are shown with the flavor since 2.61 to callers that may list them', async () => {
    await add({ a: '1' });
    const flavor = path.replace('/os-extra_specs', '');
    expect((await api.as('ada:p1', '2.60').get(flavor)).body.flavor).not.toHaveProperty('extra_specs');
    expect((await api.as('ada:p1', '2.61').get(flavor)).body.flavor.extra_specs).toEqual({ a: '1' });
    expect((await api.as('eve:p1:nothing', '2.61').get(flavor)).body.flavor).not.toHaveProperty('extra_specs');
  });

  it('of an unknown flavor return 404', async () => {
    path = '/flavors/nowhere/os-extra_specs';
    expect((await admin().get(path)).status).toBe(404);
    expect((await add({ a: 'b' })).status).toBe(404);
    expect((await admin().get(`${path}/a`)).status).toBe(404);
    expect((await admin().put(`${path}/a`, { a: 'b' })).status).toBe(404);
    expect((await admin().delete(`${path}/a`)).status).toBe(404);
  });

  it('can be read but not changed by members, and not read without a role', async () => {
    await add({ a: '1' });
    const ada = api.as('ada:p1');
    expect((await ada.get(path)).body).toEqual({ extra_specs: { a: '1' } });
    expect((await ada.get(`${path}/a`)).body).toEqual({ a: '1' });
    expect((await ada.post(path, { extra_specs: { a: '2' } })).status).toBe(403);
    expect((await ada.put(`${path}/a`, { a: '2' })).status).toBe(403);
    expect((await ada.delete(`${path}/a`)).status).toBe(403);
    expect((await ada.get(`${path}/a`)).body).toEqual({ a: '1' });
    const eve = api.as('eve:p1:nothing');
    expect((await eve.get(path)).status).toBe(403);
    expect((await eve.get(`${path}/a`)).status).toBe(403);
  });

  it('lose no concurrent change', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, i) => admin().put(`${path}/k${i}`, { [`k${i}`]: 'x' })));
    expect(Object.keys((await admin().get(path)).body.extra_specs)).toHaveLength(12);
  });
});
