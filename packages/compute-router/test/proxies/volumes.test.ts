import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest, type Client } from '../api-under-test.js';

const anonymous = '99999999-9999-4999-8999-999999999999';

describe('volumes and snapshots until 2.35', () => {
  let api: Api;
  let ada: Client;
  let bob: Client;
  beforeAll(async () => {
    api = await apiUnderTest();
    ada = api.as('ada:p1', '2.35');
    bob = api.as('bob:p2', '2.35');
  });
  afterAll(() => api.close());

  const volumeOf = async (fields: object, client = ada) =>
    (await client.post('/os-volumes', { volume: { size: 1, ...fields } })).body.volume;

  it('creates, lists, shows and deletes volumes', async () => {
    const given = { display_name: 'data', display_description: 'd', metadata: { a: 'b' }, volume_type: 'standard' };
    const created = await ada.post('/os-volumes', { volume: { size: '2', ...given } });
    expect(created.status).toBe(200);
    const { volume } = created.body;
    expect(volume).toEqual({
      id: expect.any(String),
      status: expect.stringMatching(/^(creating|available)$/),
      size: 2,
      availabilityZone: expect.any(String),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/),
      attachments: [{}],
      displayName: 'data',
      displayDescription: 'd',
      volumeType: 'standard',
      snapshotId: null,
      metadata: { a: 'b' },
    });
    const shown = (await ada.get(`/os-volumes/${volume.id}`)).body.volume;
    expect(shown).toMatchObject({ id: volume.id, status: 'available' });
    await volumeOf({});
    for (const path of ['/os-volumes', '/os-volumes/detail']) {
      const { volumes } = (await ada.get(path)).body;
      expect(volumes).toHaveLength(2);
      expect(volumes).toContainEqual(shown);
      expect((await ada.get(`${path}?limit=1&offset=1`)).body.volumes).toEqual([shown]);
      expect((await ada.get(`${path}?limit=-1`)).status).toBe(400);
      expect((await bob.get(path)).body.volumes).toEqual([]);
    }
    expect((await bob.get(`/os-volumes/${volume.id}`)).status).toBe(404);
    expect((await bob.delete(`/os-volumes/${volume.id}`)).status).toBe(404);
    expect((await ada.delete(`/os-volumes/${volume.id}`)).status).toBe(202);
    expect((await ada.get(`/os-volumes/${volume.id}`)).status).toBe(404);
  });

  it('rejects invalid volumes', async () => {
    const post = async (volume: unknown) => (await ada.post('/os-volumes', { volume })).status;
    for (const size of [0, -1, 'x', '', 1.5, null, undefined]) expect(await post({ size })).toBe(400);
    expect(await post({ size: 1, more: 1 })).toBe(400);
    expect(await post({ size: 1, snapshot_id: anonymous })).toBe(404);
    expect(await post({ size: 1, volume_type: 'nothing' })).toBeGreaterThanOrEqual(400);
    expect((await ada.delete(`/os-volumes/${anonymous}`)).status).toBe(404);
  });

  it('shows the attachment of a volume, and does not delete an attached volume', async () => {
    const { id } = await volumeOf({});
    const server = await ada.boot();
    const body = { volumeAttachment: { volumeId: id, device: '/dev/vdb' } };
    expect((await ada.post(`/servers/${server.id}/os-volume_attachments`, body)).status).toBe(200);
    await api.idle();
    const { volume } = (await ada.get(`/os-volumes/${id}`)).body;
    expect(volume.status).toBe('in-use');
    expect(volume.attachments).toEqual([{ id, volumeId: id, serverId: server.id, device: '/dev/vdb' }]);
    expect((await ada.delete(`/os-volumes/${id}`)).status).toBe(400);
  });

  it('creates, lists, shows and deletes snapshots, and creates volumes from them', async () => {
    const volume = await volumeOf({ size: 3 });
    const requested = { volume_id: volume.id, force: 'true', display_name: 's', display_description: 'd' };
    const created = await ada.post('/os-snapshots', { snapshot: requested });
    expect(created.status).toBe(200);
    const { id } = created.body.snapshot;
    const { snapshot } = (await ada.get(`/os-snapshots/${id}`)).body;
    expect(snapshot).toEqual({
      id,
      volumeId: volume.id,
      status: 'available',
      size: 3,
      createdAt: expect.stringMatching(/\.\d{6}$/),
      displayName: 's',
      displayDescription: 'd',
    });
    for (const path of ['/os-snapshots', '/os-snapshots/detail']) {
      expect((await ada.get(path)).body.snapshots).toEqual([snapshot]);
      expect((await ada.get(`${path}?offset=1`)).body.snapshots).toEqual([]);
      expect((await bob.get(path)).body.snapshots).toEqual([]);
    }
    expect((await volumeOf({ size: 3, snapshot_id: id })).snapshotId).toBe(id);
    expect((await bob.get(`/os-snapshots/${id}`)).status).toBe(404);
    expect((await bob.delete(`/os-snapshots/${id}`)).status).toBe(404);
    expect((await ada.post('/os-snapshots', { snapshot: { volume_id: anonymous } })).status).toBe(400);
    expect((await ada.post('/os-snapshots', { snapshot: { volume_id: volume.id, force: 'maybe' } })).status).toBe(400);
    expect((await ada.post('/os-snapshots', { snapshot: {} })).status).toBe(400);
    expect((await ada.delete(`/os-snapshots/${id}`)).status).toBe(202);
    expect((await ada.get(`/os-snapshots/${id}`)).status).toBe(404);
  });

  it('has no bare metal nodes, and rejects changes of them', async () => {
    const admin = api.as('admin:p1', '2.35');
    expect((await admin.get('/os-baremetal-nodes')).body).toEqual({ nodes: [] });
    expect((await admin.get('/os-baremetal-nodes/1')).status).toBe(404);
    expect((await ada.get('/os-baremetal-nodes')).status).toBe(403);
    expect((await ada.get('/os-baremetal-nodes/1')).status).toBe(403);
    expect((await admin.post('/os-baremetal-nodes', { node: {} })).status).toBe(400);
    expect((await admin.delete('/os-baremetal-nodes/1')).status).toBe(400);
    for (const action of ['add_interface', 'remove_interface'])
      expect((await admin.post('/os-baremetal-nodes/1/action', { [action]: {} })).status).toBe(400);
  });

  it('never causes a 500, for any input', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.string({ unit: 'binary' }), async (json, text) => {
        const value = JSON.parse(json);
        const fields = { display_name: text, volume_type: text, snapshot_id: text, metadata: value };
        for (const volume of [
          value,
          { size: 1, ...fields },
          { size: 1, display_name: text, metadata: { [text]: text } },
        ])
          expect((await ada.post('/os-volumes', { volume })).status).toBeLessThan(500);
        for (const snapshot of [value, { volume_id: text, display_name: text }])
          expect((await ada.post('/os-snapshots', { snapshot })).status).toBeLessThan(500);
      }),
      { numRuns: 40 },
    );
    expect(api.errors).toEqual([]);
  });
});
