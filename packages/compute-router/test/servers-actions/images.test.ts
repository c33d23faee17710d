import { describe, expect, it } from 'vitest';
import { ids } from '../api-under-test.js';
import { sharedByTests } from '../shared-by-tests.js';
import { historyOf, show, stage } from './stage.js';

const ada = { userId: 'ada', projectId: 'p1', roles: ['member'] };

describe('the image of a server', () => {
  const on = sharedByTests(stage);

  const catalog = () => on.api.engine.catalogs.images;

  it.each(['createImage', 'createBackup'])(
    'is returned by %s in a header until 2.44, and in the body since 2.45',
    async (action) => {
      const server = await on.ada('2.37').boot();
      const body = { name: 'copy', ...(action === 'createBackup' && { backup_type: 'daily', rotation: 2 }) };
      const before = await on.ada('2.44').act(server.id, action, body);
      expect([before.status, before.body]).toEqual([202, undefined]);
      const byHeader = before.headers.get('location')!.split('/').at(-1)!;
      const after = await on.ada('2.45').act(server.id, action, body);
      expect([after.status, after.headers.get('location')]).toEqual([202, null]);
      expect(Object.keys(after.body)).toEqual(['image_id']);
      for (const id of [byHeader, after.body.image_id])
        expect(await catalog().get(ada, id)).toMatchObject({
          name: 'copy',
          status: 'active',
          projectId: 'p1',
          visibility: 'private',
          minDiskGb: 1,
          properties: {
            image_type: action === 'createImage' ? 'snapshot' : 'backup',
            instance_uuid: server.id,
            base_image_ref: ids.image,
          },
        });
      expect((await historyOf(on, server.id))[0]).toEqual([action, null]);
    },
  );

  it('exists, without content, as soon as the response is sent', async () => {
    const server = await on.ada('2.37').boot({ name: 'slow' });
    const rule = on.driver.addRule({ match: { name: 'slow', verb: 'snapshot' }, hang: true });
    const { body } = await on
      .ada()
      .post(`/servers/${server.id}/action`, { createImage: { name: 'copy', metadata: { a: 'b' } } });
    expect(await catalog().get(ada, body.image_id)).toMatchObject({ status: 'queued', properties: { a: 'b' } });
    await on.until(
      () => show(on, server.id),
      (shown) => shown['OS-EXT-STS:task_state'] === 'image_uploading',
    );
    expect((await on.ada().post(`/servers/${server.id}/action`, { createImage: { name: 'copy' } })).status).toBe(409);
    rule.release();
    await on.api.idle();
    expect(await catalog().get(ada, body.image_id)).toMatchObject({ status: 'active' });
    rule.remove();
  });

  it('is deleted if the machine fails or the server is deleted in the meantime', async () => {
    const failing = await on.ada('2.37').boot({ name: 'unlucky' });
    on.driver.addRule({ match: { name: 'unlucky', verb: 'snapshot' }, fail: 'no space', times: 1 });
    const { image_id } = (await on.ada().act(failing.id, 'createImage', { name: 'copy' })).body;
    expect(image_id).toEqual(expect.any(String));
    await expect(catalog().get(ada, image_id)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    expect(await show(on, failing.id)).toMatchObject({ status: 'ACTIVE', 'OS-EXT-STS:task_state': null });
    on.driver.addRule({ match: { name: 'unlucky', verb: 'snapshot' }, hang: true });
    const second = await on.ada().post(`/servers/${failing.id}/action`, { createImage: { name: 'copy' } });
    await on.ada().delete(`/servers/${failing.id}`);
    await on.api.idle();
    expect(second.body.image_id).toEqual(expect.any(String));
    await expect(catalog().get(ada, second.body.image_id)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    on.driver.clearRules();
  });

  it('replaces the oldest backup of its type beyond the rotation; a rotation of 0 keeps none', async () => {
    const server = await on.ada('2.37').boot();
    const backups = async (type: string) => {
      const properties = { image_type: 'backup', backup_type: type, instance_uuid: server.id };
      return (await catalog().list(ada, { properties })).map(({ name }) => name);
    };
    for (const name of ['one', 'two', 'three']) {
      await on.ada().act(server.id, 'createBackup', { name, backup_type: 'daily', rotation: 2 });
      await on.clock.advance(1000);
    }
    await on.ada().act(server.id, 'createBackup', { name: 'week', backup_type: 'weekly', rotation: 1 });
    expect(await backups('daily')).toEqual(['three', 'two']);
    expect(await backups('weekly')).toEqual(['week']);
    const none = await on
      .ada('2.44')
      .act(server.id, 'createBackup', { name: 'none', backup_type: 'daily', rotation: 0 });
    expect(none.headers.get('location')).toBeNull();
    expect(await backups('daily')).toEqual([]);
  });

  it('has properties that count against the limit of metadata items until 2.38', async () => {
    const server = await on.ada('2.37').boot();
    const metadata = Object.fromEntries(Array.from({ length: 129 }, (_, i) => [`k${i}`, '']));
    for (const [version, status] of [
      ['2.38', 403],
      ['2.39', 202],
    ] as const)
      expect((await on.ada(version).act(server.id, 'createImage', { name: 'copy', metadata })).status).toBe(status);
  });

  it('consists of volume snapshots if the root disk is a volume, without a task state', async () => {
    const server = await on.bootFromVolume();
    const { image_id } = (await on.ada().act(server.id, 'createImage', { name: 'copy', metadata: { a: 'b' } })).body;
    const image = await catalog().get(ada, image_id);
    expect(image).toMatchObject({
      status: 'active',
      properties: { bdm_v2: 'True', root_device_name: '/dev/vda', image_type: 'snapshot', a: 'b' },
    });
    const [mapping] = JSON.parse(image.properties.block_device_mapping!);
    expect(mapping).toMatchObject({
      source_type: 'snapshot',
      destination_type: 'volume',
      boot_index: 0,
      volume_size: 10,
    });
    const snapshot = await on.api.engine.catalogs.volumes.getSnapshot(ada, mapping.snapshot_id);
    expect(snapshot).toMatchObject({ name: 'snapshot for copy', status: 'available' });
    const backup = { name: 'copy', backup_type: 'daily', rotation: 1 };
    expect((await on.ada().act(server.id, 'createBackup', backup)).status).toBe(400);
    expect((await historyOf(on, server.id))[0]).toEqual(['createImage', null]);
  });
});
