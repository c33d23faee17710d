import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sharedByTests } from '../shared-by-tests.js';
import { largeCapacityApi } from './large-capacity-api.js';

describe('metadata of a server', () => {
  const api = sharedByTests(() => largeCapacityApi({}, { metadata_items: 4 }));

  const items = { role: 'web', 'a.b:c_d-e f': '' };

  it('contains the items of the create request', async () => {
    const ada = api.as('ada:p1');
    const { id } = await ada.boot({ metadata: items });
    expect((await ada.get(`/servers/${id}/metadata`)).body).toEqual({ metadata: items });
    expect((await ada.get(`/servers/${id}/metadata/role`)).body).toEqual({ meta: { role: 'web' } });
    expect((await ada.get(`/servers/${id}/metadata/a.b%3Ac_d-e%20f`)).body).toEqual({ meta: { 'a.b:c_d-e f': '' } });
  });

  it('is merged by POST, replaced by PUT, and set item by item', async () => {
    const ada = api.as('ada:p1', '2.100');
    const { id } = await ada.boot({ metadata: items });
    const path = `/servers/${id}/metadata`;
    const merged = await ada.post(path, { metadata: { role: 'db', size: 'big' } });
    expect(merged.status).toBe(200);
    expect(merged.body).toEqual({ metadata: { ...items, role: 'db', size: 'big' } });
    expect((await ada.put(path, { metadata: { only: 'this' } })).body).toEqual({ metadata: { only: 'this' } });
    const set = await ada.put(`${path}/only`, { meta: { only: 'that' } });
    expect([set.status, set.body]).toEqual([200, { meta: { only: 'that' } }]);
    expect((await ada.delete(`${path}/only`)).status).toBe(204);
    expect((await ada.get(`/servers/${id}`)).body.server.metadata).toEqual({});
  });

  it('reports a missing item, and rejects a body that does not match the path', async () => {
    const ada = api.as('ada:p1');
    const { id } = await ada.boot();
    const path = `/servers/${id}/metadata`;
    expect((await ada.get(`${path}/nothing`)).status).toBe(404);
    expect((await ada.delete(`${path}/nothing`)).status).toBe(404);
    expect((await ada.get(`${path}/constructor`)).status).toBe(404);
    const mismatch = await ada.put(`${path}/one`, { meta: { other: 'x' } });
    expect([mismatch.status, mismatch.body.badRequest.message]).toEqual([400, 'Request body and URI mismatch']);
  });

  it.each([
    ['no object', []],
    ['no metadata', {}],
    ['a value that is not a string', { metadata: { a: 1 } }],
    ['null as a value', { metadata: { a: null } }],
    ['a value that is too long', { metadata: { a: 'x'.repeat(256) } }],
    ['an empty key', { metadata: { '': 'x' } }],
    ['a key that is too long', { metadata: { ['k'.repeat(256)]: 'x' } }],
    ['a key with other characters', { metadata: { 'a/b': 'x' } }],
    ['additional keys', { metadata: {}, more: 1 }],
  ])('rejects a body with %s', async (_what, body) => {
    const ada = api.as('ada:p1');
    const { id } = await ada.boot();
    expect((await ada.post(`/servers/${id}/metadata`, body)).status).toBe(400);
    expect((await ada.put(`/servers/${id}/metadata`, body)).status).toBe(400);
  });

  it.each([{ meta: {} }, { meta: { a: 'x', b: 'y' } }, { meta: { a: 1 } }, {}])(
    'rejects %j as one item',
    async (body) => {
      const ada = api.as('ada:p1');
      const { id } = await ada.boot();
      expect((await ada.put(`/servers/${id}/metadata/a`, body)).status).toBe(400);
    },
  );

  it('has at most as many items as the quota allows', async () => {
    const ada = api.as('ada:p1');
    const { id } = await ada.boot({ metadata: { a: '1', b: '2', c: '3' } });
    const path = `/servers/${id}/metadata`;
    expect((await ada.post(path, { metadata: { d: '4', e: '5' } })).status).toBe(403);
    expect((await ada.put(path, { metadata: { a: '1', b: '2', c: '3', d: '4', e: '5' } })).status).toBe(403);
    expect((await ada.put(`${path}/d`, { meta: { d: '4' } })).status).toBe(200);
    expect((await ada.put(`${path}/e`, { meta: { e: '5' } })).status).toBe(403);
    expect(Object.keys((await ada.get(path)).body.metadata)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('is hidden from other projects, and cannot be changed while the server is locked or in error', async () => {
    const ada = api.as('ada:p1', '2.100');
    const { id } = await ada.boot({ metadata: items });
    const path = `/servers/${id}/metadata`;
    const bob = api.as('bob:p2');
    expect((await bob.get(path)).status).toBe(404);
    expect((await bob.post(path, { metadata: {} })).status).toBe(404);
    const reader = api.as('rita:p1:reader');
    expect((await reader.get(path)).status).toBe(200);
    expect((await reader.put(path, { metadata: {} })).status).toBe(403);
    expect((await reader.delete(`${path}/role`)).status).toBe(403);
    await ada.act(id, 'lock');
    for (const rejected of [
      await ada.post(path, { metadata: {} }),
      await ada.put(path, { metadata: {} }),
      await ada.put(`${path}/role`, { meta: { role: 'x' } }),
      await ada.delete(`${path}/role`),
    ])
      expect(rejected.status).toBe(409);
    const admin = api.as('admin:p1', '2.100');
    expect((await admin.put(`${path}/role`, { meta: { role: 'x' } })).status).toBe(200);
    await ada.act(id, 'unlock');
    await admin.act(id, 'os-resetState', { state: 'error' });
    expect((await ada.delete(`${path}/role`)).status).toBe(409);
  });

  it('accepts any valid string, and never causes a 500 for others', async () => {
    const ada = api.as('ada:p1');
    const { id } = await ada.boot();
    await fc.assert(
      fc.asyncProperty(fc.anything({ withNullPrototype: false }), fc.string({ unit: 'binary' }), async (value, key) => {
        const path = `/servers/${id}/metadata`;
        const responses = [
          await ada.put(path, { metadata: value }),
          await ada.post(path, { metadata: { [key]: value } }),
          await ada.put(path, value ?? null),
        ];
        for (const { status } of responses) expect([200, 400, 403]).toContain(status);
      }),
      { numRuns: 60 },
    );
  });
});
