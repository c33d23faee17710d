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

  it('are merged when they are added, and the answer repeats what was sent', async () => {
    expect((await admin().get(path)).body).toEqual({ extra_specs: {} });
    const added = await add({ a: '1', b: '2' });
    expect([added.status, added.body]).toEqual([200, { extra_specs: { a: '1', b: '2' } }]);
    expect((await add({ b: '3', 'c d:e.f-g_h': '' })).body).toEqual({ extra_specs: { b: '3', 'c d:e.f-g_h': '' } });
    expect((await admin().get(path)).body).toEqual({ extra_specs: { a: '1', b: '3', 'c d:e.f-g_h': '' } });
  });

  it('are read, set and taken away one by one', async () => {
    const set = await admin().put(`${path}/a`, { a: 'x' });
    expect([set.status, set.body]).toEqual([200, { a: 'x' }]);
    expect((await admin().put(`${path}/a`, { a: 'y' })).body).toEqual({ a: 'y' });
    const got = await admin().get(`${path}/a`);
    expect([got.status, got.body]).toEqual([200, { a: 'y' }]);
    const gone = await admin().delete(`${path}/a`);
    expect([gone.status, gone.body]).toEqual([200, undefined]);
    expect((await admin().get(`${path}/a`)).status).toBe(404);
    expect((await admin().delete(`${path}/a`)).status).toBe(404);
  });

  it('keep numbers as text', async () => {
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
  ])('refuse %s', async (_, specs) => {
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

  it('hold keys that every object seems to have only when they were set', async () => {
    expect((await admin().get(`${path}/constructor`)).status).toBe(404);
    expect((await admin().delete(`${path}/toString`)).status).toBe(404);
    expect((await admin().put(`${path}/constructor`, { constructor: 'x' })).status).toBe(200);
    expect((await admin().get(`${path}/constructor`)).body).toEqual({ constructor: 'x' });
  });

  it.each([
    ['trait:X', 'required', "Validation failed; extra spec 'trait:X' does not appear to be a valid extra spec."],
    ['hw:cpu_policy', 'sometimes', "Validation failed; extra spec 'hw:cpu_policy' must be one of"],
    ['hw:numa_nodes', '0', "Validation failed; extra spec 'hw:numa_nodes' must be"],
  ])('in a known namespace are checked from 2.86 on: %s=%s', async (key, value, message) => {
    expect((await add({ [key]: value }, '2.85')).status).toBe(200);
    expect((await admin('2.85').put(`${path}/${key}`, { [key]: value })).status).toBe(200);
    for (const refused of [
      await add({ ok: '1', [key]: value }, '2.86'),
      await admin('2.86').put(`${path}/${key}`, { [key]: value }),
    ]) {
      expect(refused.status).toBe(400);
      expect(refused.body.badRequest.message).toContain(message);
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
  ])('that are known, or in nobody’s namespace, pass at 2.100: %s=%s', async (key, value) => {
    expect((await add({ [key]: value }, '2.100')).status).toBe(200);
  });

  it('are shown with the flavor from 2.61 on to those who may list them', async () => {
    await add({ a: '1' });
    const flavor = path.replace('/os-extra_specs', '');
    expect((await api.as('ada:p1', '2.60').get(flavor)).body.flavor).not.toHaveProperty('extra_specs');
    expect((await api.as('ada:p1', '2.61').get(flavor)).body.flavor.extra_specs).toEqual({ a: '1' });
    expect((await api.as('eve:p1:nothing', '2.61').get(flavor)).body.flavor).not.toHaveProperty('extra_specs');
  });

  it('of a flavor that is not there are 404', async () => {
    path = '/flavors/nowhere/os-extra_specs';
    expect((await admin().get(path)).status).toBe(404);
    expect((await add({ a: 'b' })).status).toBe(404);
    expect((await admin().get(`${path}/a`)).status).toBe(404);
    expect((await admin().put(`${path}/a`, { a: 'b' })).status).toBe(404);
    expect((await admin().delete(`${path}/a`)).status).toBe(404);
  });

  it('can be read by members, who change nothing, and not by those without a role', async () => {
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

  it('lose none of many that are set at once', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, i) => admin().put(`${path}/k${i}`, { [`k${i}`]: 'x' })));
    expect(Object.keys((await admin().get(path)).body.extra_specs)).toHaveLength(12);
  });
});
