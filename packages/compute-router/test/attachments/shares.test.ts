import { randomUUID } from 'node:crypto';
import type { SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { coreOf } from '@apistrata/compute-engine/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { largeCapacityApi, newestAction, ada as owner } from '../servers-parts/large-capacity-api.js';
import { sharedByTests } from '../shared-by-tests.js';

describe('shares of a server', () => {
  const api = sharedByTests(largeCapacityApi);

  const ada = () => api.as('ada:p1', '2.97');
  const shareOf = (id: string) => api.engine.embedded.shares.get(owner, id);

  async function stopped() {
    const { id } = await ada().boot();
    await ada().act(id, 'os-stop');
    return { id, path: `/servers/${id}/shares` };
  }

  async function attached(tag?: string) {
    const { id, path } = await stopped();
    const share = await api.engine.embedded.shares.create(owner, {});
    const responded = await ada().post(path, { share: { share_id: share.id, ...(tag && { tag }) } });
    expect(responded.status).toBe(201);
    await api.idle();
    return { id, path, shareId: share.id, answered: responded };
  }

  it('exist since 2.97', async () => {
    const { path, shareId } = await attached();
    const old = api.as('ada:p1', '2.96');
    for (const response of [
      await old.get(path),
      await old.post(path, { share: { share_id: shareId } }),
      await old.get(`${path}/${shareId}`),
      await old.delete(`${path}/${shareId}`),
    ])
      expect(response.status).toBe(404);
  });

  it('are attached in the background, and mounted when the server starts', async () => {
    const { id, path, shareId, answered } = await attached('data');
    expect(answered.body).toEqual({ share: { share_id: shareId, status: 'attaching', tag: 'data' } });
    const one = { share_id: shareId, status: 'inactive', tag: 'data' };
    expect((await ada().get(`${path}/${shareId}`)).body).toEqual({ share: one });
    expect((await ada().get(path)).body).toEqual({ shares: [one] });
    const { locks, accesses } = await shareOf(shareId);
    expect([locks, accesses.map(({ type, level }) => [type, level])]).toEqual([[id], [['ip', 'rw']]]);
    expect(await newestAction(api, id)).toMatchObject({ action: 'attach_share', message: null });
    await ada().act(id, 'os-start');
    expect((await ada().get(path)).body.shares[0].status).toBe('active');
    expect((await ada().delete(`${path}/${shareId}`)).status).toBe(409);
  });

  it('show their id and export location to administrators only, and not in lists', async () => {
    const { path, shareId } = await attached();
    const admin = api.as('admin:p1', '2.97');
    expect((await admin.get(`${path}/${shareId}`)).body.share).toEqual({
      share_id: shareId,
      status: 'inactive',
      tag: shareId,
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      export_location: `192.0.2.1:/shares/${shareId}`,
    });
    expect(Object.keys((await admin.get(path)).body.shares[0]).sort()).toEqual(['share_id', 'status', 'tag']);
  });

  it('are detached in the background, and their records are removed', async () => {
    const { id, path, shareId } = await attached();
    const detached = await ada().delete(`${path}/${shareId}`);
    expect([detached.status, detached.body]).toEqual([200, undefined]);
    await api.idle();
    expect((await ada().get(path)).body).toEqual({ shares: [] });
    expect(await shareOf(shareId)).toMatchObject({ locks: [], accesses: [] });
    expect(await newestAction(api, id)).toMatchObject({ action: 'detach_share', message: null });
    expect((await ada().delete(`${path}/${shareId}`)).status).toBe(404);
    expect((await ada().get(`${path}/${shareId}`)).status).toBe(404);
  });

  it('are released with the server', async () => {
    const { id, shareId } = await attached();
    await ada().delete(`/servers/${id}`);
    await api.idle();
    expect(await shareOf(shareId)).toMatchObject({ locks: [], accesses: [] });
  });

  it('require a stopped server, and are unique per share and tag: otherwise 409', async () => {
    const { path, shareId } = await attached('one');
    const another = await api.engine.embedded.shares.create(owner, {});
    const attach = async (share_id: string, tag: string, to = path) =>
      (await ada().post(to, { share: { share_id, tag } })).status;
    expect(await attach(shareId, 'two')).toBe(409);
    expect(await attach(another.id, 'one')).toBe(409);
    const running = await ada().boot();
    expect(await attach(another.id, 'two', `/servers/${running.id}/shares`)).toBe(409);
  });

  it.each([
    ['is in error', { status: 'error' }],
    ['has no export location', { exportLocations: [] }],
    ['speaks another protocol', { protocol: 'CIFS' }],
  ])('must not be one that %s', async (_what, fields) => {
    const { path } = await stopped();
    const share = await api.engine.embedded.shares.create(owner, fields);
    expect((await ada().post(path, { share: { share_id: share.id } })).status).toBe(409);
  });

  it('must belong to the project of the caller; bodies and queries must match the schema', async () => {
    const { path, shareId } = await attached();
    const post = async (share: unknown) => (await ada().post(path, { share })).status;
    expect(await post({ share_id: randomUUID() })).toBe(404);
    expect(await post({})).toBe(400);
    expect(await post({ share_id: 'x' })).toBe(400);
    expect(await post({ share_id: shareId, tag: 'a b' })).toBe(400);
    expect(await post({ share_id: shareId, more: 1 })).toBe(400);
    expect((await ada().get(`${path}?x=1`)).status).toBe(400);
    expect((await ada().get(`${path}/${shareId}?x=1`)).status).toBe(400);
    for (const otherCaller of [api.as('bob:p2', '2.97')]) {
      expect((await otherCaller.get(path)).status).toBe(403);
      expect((await otherCaller.post(path, { share: { share_id: shareId } })).status).toBe(403);
      expect((await otherCaller.get(`${path}/${shareId}`)).status).toBe(403);
      expect((await otherCaller.delete(`${path}/${shareId}`)).status).toBe(403);
    }
  });

  it('are in error if the machine rejects them, and can then be detached', async () => {
    const { id, path } = await stopped();
    const rule = (coreOf(api.engine).driver as SimulatedDriver).addRule({
      match: { verb: 'attach_share' },
      fail: 'no',
    });
    const share = await api.engine.embedded.shares.create(owner, {});
    await ada().post(path, { share: { share_id: share.id } });
    await api.idle();
    rule.remove();
    expect((await ada().get(path)).body.shares).toMatchObject([{ status: 'error' }]);
    expect(await shareOf(share.id)).toMatchObject({ locks: [], accesses: [] });
    expect(await newestAction(api, id)).toMatchObject({ action: 'attach_share', message: 'Error' });
    expect((await ada().delete(`${path}/${share.id}`)).status).toBe(200);
    await api.idle();
    expect((await ada().get(path)).body).toEqual({ shares: [] });
  });

  it.each([
    ['resize', { flavorRef: '2' }],
    ['migrate', null],
    ['shelve', null],
  ])('prevent moves of their server: no %s', async (action, argument) => {
    const { id } = await attached();
    expect((await api.as('admin:p1', '2.97').act(id, action, argument)).status).toBe(409);
  });

  it('never cause a 500, for any request', async () => {
    const { path } = await stopped();
    await fc.assert(
      fc.asyncProperty(fc.anything(), async (value) => {
        for (const body of [value ?? null, { share: value }, { share: { share_id: randomUUID(), tag: value } }])
          expect([400, 404]).toContain((await ada().post(path, body)).status);
      }),
      { numRuns: 40 },
    );
  });
});
