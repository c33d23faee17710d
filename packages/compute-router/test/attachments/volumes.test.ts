import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ids } from '../api-under-test.js';
import {
  largeCapacityApi,
  newestAction,
  newVolume,
  ada as owner,
  volumeOf,
} from '../servers-parts/large-capacity-api.js';
import { sharedByTests } from '../shared-by-tests.js';
import { bootWithVolume, volumeApi } from './volume-cloud.js';

describe('volumes of a server', () => {
  const api = sharedByTests(volumeApi);

  const at = (version: string) => api.as('ada:p1', version);
  it('are attached in the background: the response contains the device, then the volume is in use', async () => {
    const { id, volumeId, attached, ada, path } = await bootWithVolume(api, '2.1');
    expect(attached.body).toEqual({ volumeAttachment: { id: volumeId, serverId: id, volumeId, device: '/dev/vdb' } });
    const volume = await volumeOf(api, volumeId);
    expect(volume.status).toBe('in-use');
    expect(volume.attachments).toMatchObject([{ serverId: id, device: '/dev/vdb', status: 'attached' }]);
    const { server } = (await ada.get(`/servers/${id}`)).body;
    expect(server['os-extended-volumes:volumes_attached']).toEqual([{ id: volumeId }]);
    expect((await ada.get(path)).body.volumeAttachments).toHaveLength(1);
    expect(await newestAction(api, id)).toMatchObject({
      action: 'attach_volume',
      events: [{ name: 'compute_attach_volume', result: 'Success' }],
    });
  });

  const listed = ['device', 'id', 'serverId', 'volumeId'];
  const later = ['attachment_id', 'bdm_uuid', 'delete_on_termination', 'device', 'serverId', 'tag', 'volumeId'];
  it.each([
    ['2.1', listed, listed],
    ['2.69', listed, listed],
    ['2.70', [...listed, 'tag'], [...listed, 'tag']],
    ['2.78', [...listed, 'tag'], [...listed, 'tag']],
    ['2.79', [...listed, 'tag', 'delete_on_termination'], [...listed, 'tag', 'delete_on_termination']],
    ['2.88', [...listed, 'tag', 'delete_on_termination'], [...listed, 'tag', 'delete_on_termination']],
    ['2.89', later, [...listed, 'tag', 'delete_on_termination']],
    ['2.100', later, [...listed, 'tag', 'delete_on_termination']],
  ])('show at %s the fields of that version', async (version, shown, created) => {
    const { ada, path, volumeId, attached } = await bootWithVolume(api, version);
    expect(Object.keys(attached.body.volumeAttachment).sort()).toEqual([...created].sort());
    const one = (await ada.get(`${path}/${volumeId}`)).body.volumeAttachment;
    expect(Object.keys(one).sort()).toEqual([...shown].sort());
    expect((await ada.get(path)).body).toEqual({ volumeAttachments: [one] });
    if ('attachment_id' in one) {
      const { attachments } = await volumeOf(api, volumeId);
      expect(one.attachment_id).toBe(attachments[0]!.id);
      expect([one.tag, one.delete_on_termination]).toEqual([null, false]);
    }
  });

  it('are attached without a response body since 2.101', async () => {
    const later = await largeCapacityApi({ router: { maxVersion: '2.101' } });
    const ada = later.as('ada:p1', '2.101');
    const { id } = await ada.boot();
    const volumeAttachment = { volumeId: await newVolume(later) };
    const attached = await ada.post(`/servers/${id}/os-volume_attachments`, { volumeAttachment });
    expect([attached.status, attached.body]).toEqual([202, undefined]);
    await later.idle();
    expect((await volumeOf(later, volumeAttachment.volumeId)).status).toBe('in-use');
    expect(later.errors).toEqual([]);
    await later.close();
  });

  it('accept tags since 2.49, and delete_on_termination since 2.79', async () => {
    const { ada, path, volumeId } = await bootWithVolume(api, '2.79', { tag: 'data', delete_on_termination: 'yes' });
    expect((await ada.get(`${path}/${volumeId}`)).body.volumeAttachment).toMatchObject({
      tag: 'data',
      delete_on_termination: true,
    });
    const another = await newVolume(api);
    for (const [version, field] of [
      ['2.48', { tag: 'x' }],
      ['2.78', { delete_on_termination: true }],
      ['2.49', { tag: 'a,b' }],
      ['2.79', { delete_on_termination: 'perhaps' }],
    ] as const) {
      const rejected = await at(version).post(path, { volumeAttachment: { volumeId: another, ...field } });
      expect(rejected.status).toBe(400);
    }
  });

  it('are paged by limit and offset, without links', async () => {
    const { ada, path, volumeId: first } = await bootWithVolume(api);
    const second = await newVolume(api);
    await ada.post(path, { volumeAttachment: { volumeId: second } });
    await api.idle();
    const page = async (query: string) =>
      (await ada.get(`${path}?${query}`)).body.volumeAttachments.map((a: any) => a.volumeId);
    expect(await page('limit=0')).toEqual([first, second]);
    expect(await page('limit=1')).toEqual([first]);
    expect(await page('offset=1')).toEqual([second]);
    expect(await page('limit=5&offset=2')).toEqual([]);
    expect((await ada.get(`${path}?limit=-1`)).status).toBe(400);
    expect((await ada.get(`${path}?offset=x`)).status).toBe(400);
    expect((await ada.get(`${path}?other=1`)).status).toBe(400);
    expect((await at('2.74').get(`${path}?other=1`)).status).toBe(200);
  });

  it('get the requested device, and no device twice', async () => {
    const { ada, path, attached } = await bootWithVolume(api, '2.1', { device: '/dev/vdf' });
    expect(attached.body.volumeAttachment.device).toBe('/dev/vdf');
    const volumeId = await newVolume(api);
    const inUse = await ada.post(path, { volumeAttachment: { volumeId, device: '/dev/vdf1' } });
    expect([inUse.status, (await volumeOf(api, volumeId)).status]).toEqual([409, 'available']);
    for (const device of ['vdb', '/dev/vd b', '/tmp/vdb', '/dev/', 7])
      expect((await ada.post(path, { volumeAttachment: { volumeId, device } })).status).toBe(400);
    const next = await ada.post(path, { volumeAttachment: { volumeId, device: null } });
    expect(next.body.volumeAttachment.device).toBe('/dev/vdb');
    await api.idle();
  });

  it('must exist and be available: otherwise 404 and 400', async () => {
    const { ada, path, volumeId } = await bootWithVolume(api);
    const attach = async (id: string, client = ada) =>
      (await client.post(path, { volumeAttachment: { volumeId: id } })).status;
    expect(await attach(randomUUID())).toBe(404);
    expect(await attach(volumeId)).toBe(400);
    expect(await attach('no-uuid')).toBe(400);
    const other = await ada.boot();
    const elsewhere = await ada.post(`/servers/${other.id}/os-volume_attachments`, { volumeAttachment: { volumeId } });
    expect(elsewhere.status).toBe(400);
    const broken = await newVolume(api);
    await api.engine.embedded.volumes.updateVolume(owner, broken, { status: 'error' });
    expect(await attach(broken)).toBe(400);
    expect(await attach(await newVolume(api), api.as('bob:p2', '2.100'))).toBe(404);
    const foreign = await api.engine.embedded.volumes.createVolume(
      { userId: 'bob', projectId: 'p2', roles: ['member'] },
      { key: randomUUID(), sizeGb: 1 },
    );
    expect(await attach(foreign.id)).toBe(404);
    expect((await ada.get(path)).body.volumeAttachments).toHaveLength(1);
  });

  it('can be attached to several servers since 2.60', async () => {
    const ada = at('2.60');
    const [one, two] = [await ada.boot(), await ada.boot()];
    const volumeId = await newVolume(api, { volumeType: 'multi' });
    const attach = (id: string, version: string) =>
      at(version).post(`/servers/${id}/os-volume_attachments`, { volumeAttachment: { volumeId } });
    expect((await attach(one.id, '2.59')).status).toBe(400);
    expect((await attach(one.id, '2.60')).status).toBe(200);
    await api.idle();
    expect((await attach(two.id, '2.60')).status).toBe(200);
    await api.idle();
    expect((await volumeOf(api, volumeId)).attachments).toHaveLength(2);
    expect((await ada.delete(`/servers/${one.id}/os-volume_attachments/${volumeId}`)).status).toBe(202);
    await api.idle();
    expect(await volumeOf(api, volumeId)).toMatchObject({ status: 'in-use', attachments: [{ serverId: two.id }] });
  });

  it('can be attached to shelved servers since 2.20, and are connected on the next host', async () => {
    const ada = at('2.20');
    const { id } = await ada.boot();
    await ada.act(id, 'shelve');
    expect((await ada.get(`/servers/${id}`)).body.server.status).toBe('SHELVED_OFFLOADED');
    const path = `/servers/${id}/os-volume_attachments`;
    const volumeId = await newVolume(api);
    expect((await at('2.19').post(path, { volumeAttachment: { volumeId } })).status).toBe(409);
    expect((await at('2.49').post(path, { volumeAttachment: { volumeId, tag: 't' } })).status).toBe(400);
    const multi = await newVolume(api, { volumeType: 'multi' });
    expect((await at('2.60').post(path, { volumeAttachment: { volumeId: multi } })).status).toBe(400);
    expect((await ada.post(path, { volumeAttachment: { volumeId } })).status).toBe(200);
    await api.idle();
    // Without a host, the volume is not connected. It is in use nevertheless, because clients wait for this status.
    expect(await volumeOf(api, volumeId)).toMatchObject({ status: 'in-use', attachments: [{ serverId: id }] });
    expect((await ada.get(path)).body.volumeAttachments).toMatchObject([{ volumeId, serverId: id }]);
    const another = await newVolume(api);
    await ada.post(path, { volumeAttachment: { volumeId: another } });
    await api.idle();
    expect((await ada.delete(`${path}/${another}`)).status).toBe(202);
    await api.idle();
    expect((await volumeOf(api, another)).status).toBe('available');
    await ada.act(id, 'unshelve');
    expect((await ada.get(`/servers/${id}`)).body.server.status).toBe('ACTIVE');
    expect(await volumeOf(api, volumeId)).toMatchObject({ status: 'in-use', attachments: [{ serverId: id }] });
    const { volumeAttachment } = (await ada.get(`${path}/${volumeId}`)).body;
    expect(volumeAttachment).toMatchObject({ serverId: id, device: expect.stringMatching(/^\/dev\//) });
  });

  it('are detached in the background, and then available', async () => {
    const { ada, id, path, volumeId } = await bootWithVolume(api, '2.1');
    expect((await ada.delete(`${path}/${randomUUID()}`)).status).toBe(404);
    expect((await ada.delete(`${path}/${await newVolume(api)}`)).status).toBe(404);
    const detached = await ada.delete(`${path}/${volumeId}`);
    expect([detached.status, detached.body]).toEqual([202, undefined]);
    await api.idle();
    expect(await volumeOf(api, volumeId)).toMatchObject({ status: 'available', attachments: [] });
    expect((await ada.get(path)).body).toEqual({ volumeAttachments: [] });
    expect((await ada.get(`${path}/${volumeId}`)).status).toBe(404);
    expect(await newestAction(api, id)).toMatchObject({ action: 'detach_volume', message: null });
  });

  it('stay attached while the host is down', async () => {
    const { ada, id, path, volumeId } = await bootWithVolume(api, '2.53');
    const admin = api.as('admin:p1', '2.53');
    const host = (await admin.get(`/servers/${id}`)).body.server['OS-EXT-SRV-ATTR:host'];
    const { services } = (await admin.get(`/os-services?host=${host}&binary=nova-compute`)).body;
    await admin.put(`/os-services/${services[0].id}`, { forced_down: true });
    expect((await ada.delete(`${path}/${volumeId}`)).status).toBe(409);
    await admin.put(`/os-services/${services[0].id}`, { forced_down: false });
    expect((await volumeOf(api, volumeId)).status).toBe('in-use');
  });

  it('are not attached to or detached from servers that are locked, or in a state that does not allow it', async () => {
    const { ada, id, path, volumeId } = await bootWithVolume(api);
    const another = await newVolume(api);
    const rejected = async () => {
      expect((await ada.post(path, { volumeAttachment: { volumeId: another } })).status).toBe(409);
      expect((await ada.delete(`${path}/${volumeId}`)).status).toBe(409);
    };
    await ada.act(id, 'lock');
    await rejected();
    await ada.act(id, 'unlock');
    await ada.act(id, 'suspend');
    await rejected();
    await ada.act(id, 'resume');
    await ada.act(id, 'pause');
    expect((await ada.post(path, { volumeAttachment: { volumeId: another } })).status).toBe(200);
    await api.idle();
  });

  it('are limited in number, and to the zone of the server if so configured', async () => {
    const strict = await largeCapacityApi({
      engine: { settings: { maxDiskDevices: 2, crossZoneAttach: false } },
    });
    const ada = strict.as('ada:p1', '2.100');
    const { id } = await ada.boot();
    const path = `/servers/${id}/os-volume_attachments`;
    const attach = async (volumeId: string) => (await ada.post(path, { volumeAttachment: { volumeId } })).status;
    expect(await attach(await newVolume(strict, { availabilityZone: 'far' }))).toBe(400);
    expect(await attach(await newVolume(strict))).toBe(200);
    expect(await attach(await newVolume(strict))).toBe(403);
    await strict.idle();
    expect(strict.errors).toEqual([]);
    await strict.close();
  });

  it('of the root device cannot be detached', async () => {
    const { ada, id, path, volumeId } = await bootWithVolume(api);
    await api.engine.servers.change(
      { caller: { ...owner, roles: ['admin'], isAdmin: true }, isAdmin: true, requestId: `req-${randomUUID()}` },
      id,
      'update',
      ({ blockDevices }) => ({
        blockDevices: blockDevices.map((device) =>
          device.volumeId === volumeId ? { ...device, bootIndex: 0 } : device,
        ),
      }),
    );
    expect((await ada.delete(`${path}/${volumeId}`)).status).toBe(400);
  });

  it('never cause a 500, for any request', async () => {
    const ada = at('2.100');
    const { id } = await ada.boot();
    const path = `/servers/${id}/os-volume_attachments`;
    await fc.assert(
      fc.asyncProperty(fc.anything(), fc.webQueryParameters(), async (value, query) => {
        for (const body of [
          value,
          { volumeAttachment: value },
          { volumeAttachment: { volumeId: ids.image, device: value } },
        ])
          for (const responded of [
            await ada.post(path, body ?? null),
            await ada.put(`${path}/${ids.image}`, body ?? null),
          ])
            expect([400, 404]).toContain(responded.status);
        expect([200, 400]).toContain((await ada.get(`${path}?${query}`)).status);
      }),
      { numRuns: 40 },
    );
  });
});
