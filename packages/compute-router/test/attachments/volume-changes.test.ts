import { randomUUID } from 'node:crypto';
import type { SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { coreOf } from '@apistrata/compute-engine/testing';
import { describe, expect, it } from 'vitest';
import { newestAction, newVolume, ada as owner, volumeOf } from '../servers-parts/large-capacity-api.js';
import { sharedByTests } from '../shared-by-tests.js';
import { bootWithVolume, volumeApi } from './volume-cloud.js';

describe('attached volumes', () => {
  const api = sharedByTests(volumeApi);

  const at = (version: string) => api.as('ada:p1', version);
  it('can change only delete_on_termination, since 2.85', async () => {
    const { ada, id, path, volumeId } = await bootWithVolume(api, '2.85', { tag: 't' });
    const put = async (fields: object, client = ada) =>
      (await client.put(`${path}/${volumeId}`, { volumeAttachment: { volumeId, ...fields } })).status;
    expect(await put({ delete_on_termination: true })).toBe(202);
    expect(await put({ delete_on_termination: true, device: '/dev/vdb', tag: 't', serverId: id, id: volumeId })).toBe(
      202,
    );
    expect(await put({})).toBe(202);
    expect((await ada.get(`${path}/${volumeId}`)).body.volumeAttachment.delete_on_termination).toBe(true);
    expect(await put({ device: '/dev/vdc' })).toBe(400);
    expect(await put({ tag: 'u' })).toBe(400);
    expect(await put({ serverId: randomUUID() })).toBe(400);
    expect(await put({ id: randomUUID() })).toBe(400);
    expect(await put({ delete_on_termination: true }, at('2.84'))).toBe(400);
    expect(await put({}, api.as('rita:p1:reader', '2.85'))).toBe(403);
    const unknown = randomUUID();
    expect((await ada.put(`${path}/${unknown}`, { volumeAttachment: { volumeId: unknown } })).status).toBe(404);
    expect((await ada.delete(`/servers/${id}`)).status).toBe(204);
    await api.idle();
    await expect(volumeOf(api, volumeId)).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
  });

  it('are swapped only while the volume service migrates them, and only by services and administrators', async () => {
    const { ada, id, path, volumeId } = await bootWithVolume(api, '2.85');
    const admin = api.as('admin:p1', '2.84');
    const swap = async (from: string, to: string, client = admin) =>
      (await client.put(`${path}/${from}`, { volumeAttachment: { volumeId: to } })).status;
    const other = await newVolume(api);
    expect(await swap(volumeId, other)).toBe(409);
    expect(await swap(volumeId, other, ada)).toBe(403);
    expect(await swap(volumeId, other, at('2.84'))).toBe(403);
    expect(await swap(randomUUID(), other)).toBe(404);
    const target = await api.engine.embedded.volumes.beginMigration(owner, volumeId);
    expect(await swap(volumeId, randomUUID())).toBe(400);
    expect(await swap(volumeId, target)).toBe(202);
    await api.idle();
    const volume = await volumeOf(api, volumeId);
    expect(volume).toMatchObject({ status: 'in-use', migrationStatus: 'success', attachments: [{ serverId: id }] });
    expect(volume.attachments).toHaveLength(1);
    const shown = (await api.as('ada:p1', '2.89').get(`${path}/${volumeId}`)).body.volumeAttachment;
    expect(shown.attachment_id).toBe(volume.attachments[0]!.id);
    expect(await newestAction(api, id)).toMatchObject({ action: 'swap_volume', message: null });
    await expect(volumeOf(api, target)).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
  });

  it('are released if the machine rejects them, and remain if it cannot detach them', async () => {
    const { ada, id, path, volumeId } = await bootWithVolume(api);
    const driver = coreOf(api.engine).driver as SimulatedDriver;
    const name = (await ada.get(`/servers/${id}`)).body.server.name;
    const failing = driver.addRule({
      match: { name, verb: ['attach_volume', 'detach_volume', 'swap_volume'] },
      fail: 'no',
    });
    const another = await newVolume(api);
    expect((await ada.post(path, { volumeAttachment: { volumeId: another } })).status).toBe(200);
    await api.idle();
    expect(await volumeOf(api, another)).toMatchObject({ status: 'available', attachments: [] });
    expect(await newestAction(api, id)).toMatchObject({ action: 'attach_volume', message: 'Error' });
    expect((await ada.delete(`${path}/${volumeId}`)).status).toBe(202);
    await api.idle();
    expect((await volumeOf(api, volumeId)).status).toBe('in-use');
    expect(await newestAction(api, id)).toMatchObject({ action: 'detach_volume', message: 'Error' });
    const target = await api.engine.embedded.volumes.beginMigration(owner, volumeId);
    await api.as('admin:p1', '2.1').put(`${path}/${volumeId}`, { volumeAttachment: { volumeId: target } });
    await api.idle();
    expect(await volumeOf(api, volumeId)).toMatchObject({ status: 'in-use', migrationStatus: 'error' });
    failing.remove();
    const { server } = (await ada.get(`/servers/${id}`)).body;
    expect([server.status, server['OS-EXT-STS:task_state']]).toEqual(['ACTIVE', null]);
    expect((await ada.get(path)).body.volumeAttachments).toHaveLength(1);
  });
});
