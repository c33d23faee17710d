import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sharedByTests } from '../shared-by-tests.js';
import { largeCapacityApi } from './large-capacity-api.js';

describe('tags of a server', () => {
  const api = sharedByTests(largeCapacityApi);

  const fifty = Array.from({ length: 50 }, (_, n) => `tag-${n}`);

  async function bootWith(...tags: string[]) {
    const ada = api.as('ada:p1', '2.26');
    const { id } = await ada.boot();
    if (tags.length > 0) expect((await ada.put(`/servers/${id}/tags`, { tags })).status).toBe(200);
    return { id, ada, path: `/servers/${id}/tags` };
  }

  it('exist since 2.26', async () => {
    const { path } = await bootWith('a');
    const old = api.as('ada:p1', '2.25');
    for (const responded of [
      await old.get(path),
      await old.put(path, { tags: [] }),
      await old.delete(path),
      await old.get(`${path}/a`),
      await old.put(`${path}/a`),
      await old.delete(`${path}/a`),
    ])
      expect(responded.status).toBe(404);
    expect((await api.as('ada:p1', '2.26').get(path)).body).toEqual({ tags: ['a'] });
  });

  it('are a set: replaced as a whole, added and removed one by one', async () => {
    const { ada, id, path } = await bootWith();
    const replaced = await ada.put(path, { tags: ['blue', 'red', 'blue'] });
    expect([replaced.status, replaced.body]).toEqual([200, { tags: ['blue', 'red'] }]);
    const added = await ada.put(`${path}/gr%C3%BCn%20x`);
    expect([added.status, added.body]).toEqual([201, undefined]);
    expect(added.headers.get('location')).toBe(`${api.url}/v2.1${path}/gr%C3%BCn%20x`);
    const again = await ada.put(`${path}/red`);
    expect([again.status, again.headers.get('location')]).toEqual([204, null]);
    expect((await ada.get(`/servers/${id}`)).body.server.tags).toEqual(['blue', 'red', 'grün x']);
    expect((await ada.get(`${path}/red`)).status).toBe(204);
    expect((await ada.get(`${path}/green`)).status).toBe(404);
    expect((await ada.delete(`${path}/red`)).status).toBe(204);
    expect((await ada.delete(`${path}/red`)).status).toBe(404);
    expect((await ada.delete(path)).status).toBe(204);
    expect((await ada.get(path)).body).toEqual({ tags: [] });
  });

  it('are at most 50, which is checked before duplicates', async () => {
    const { ada, path } = await bootWith(...fifty);
    expect((await ada.put(`${path}/one-more`)).status).toBe(400);
    expect((await ada.put(`${path}/tag-1`)).status).toBe(400);
    expect((await ada.put(path, { tags: [...fifty, 'one-more'] })).status).toBe(400);
  });

  it.each(['', 'a,b', 'a/b', 'x'.repeat(61), 7, null])('cannot be %j', async (tag) => {
    const { ada, path } = await bootWith('kept');
    expect((await ada.put(path, { tags: [tag] })).status).toBe(400);
    if (typeof tag === 'string' && tag !== '')
      expect((await ada.put(`${path}/${encodeURIComponent(tag)}`)).status).toBe(400);
    expect((await ada.get(path)).body).toEqual({ tags: ['kept'] });
  });

  it('of other projects return 403 rather than 404', async () => {
    const { path } = await bootWith('a');
    const bob = api.as('bob:p2', '2.26');
    for (const rejected of [
      await bob.get(path),
      await bob.put(path, { tags: [] }),
      await bob.delete(path),
      await bob.get(`${path}/a`),
      await bob.put(`${path}/b`),
      await bob.delete(`${path}/a`),
    ])
      expect(rejected.status).toBe(403);
    const nowhere = path.replace(/[0-9a-f-]{36}/, '00000000-0000-4000-8000-000000000000');
    expect((await bob.get(nowhere)).status).toBe(404);
    expect((await api.as('admin:p9', '2.26').put(`${path}/b`)).status).toBe(201);
  });

  it('can be changed while the server is locked, but not while it is in error', async () => {
    const { ada, id, path } = await bootWith('a');
    await ada.act(id, 'lock');
    expect((await ada.put(`${path}/b`)).status).toBe(201);
    await api.as('admin:p1').act(id, 'os-resetState', { state: 'error' });
    for (const rejected of [
      await ada.put(`${path}/c`),
      await ada.delete(`${path}/a`),
      await ada.put(path, { tags: [] }),
      await ada.delete(path),
    ])
      expect(rejected.status).toBe(409);
  });

  it('never cause a 500, for any tags', async () => {
    const { ada, path } = await bootWith();
    await fc.assert(
      fc.asyncProperty(fc.anything(), fc.string({ unit: 'binary', minLength: 1 }), async (value, text) => {
        expect([200, 400]).toContain((await ada.put(path, { tags: value })).status);
        expect([200, 400]).toContain((await ada.put(path, { tags: [text, value] })).status);
        const safe = encodeURIComponent(text);
        expect([201, 204, 400, 404]).toContain((await ada.put(`${path}/${safe}`)).status);
      }),
      { numRuns: 60 },
    );
  });
});
