import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Caller } from '../../src/caller/caller.js';
import { storesUnderTest } from '../stores-under-test.js';
import { ada, admin, bob, CIRROS, type VolumesUnderTest, volumesUnderTest } from './volumes-under-test.js';

describe.each(storesUnderTest(inject('postgresUrl')))('embedded volumes on $kind', ({ open }) => {
  let volumes: VolumesUnderTest['volumes'];
  let create: VolumesUnderTest['create'];
  let extended: readonly string[];
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ volumes, create, extended, close } = await volumesUnderTest(open));
  });
  afterAll(() => close());

  const status = async (id: string) => (await volumes.getVolume(ada, id)).status;
  const wrong = { code: 'VOLUME_WRONG_STATUS', kind: 'invalid', status: 400 };
  const connector = { host: 'host1', mountpoint: '/dev/vdb' };

  async function attached(volumeId: string, serverId: string = randomUUID()) {
    const attachment = await volumes.reserve(ada, { key: randomUUID(), volumeId, serverId });
    await volumes.connect(ada, attachment.id, connector);
    await volumes.complete(ada, attachment.id);
    return attachment;
  }

  it('pass through every status of attaching and detaching', async () => {
    const { id } = await create({ name: 'data' });
    expect(await volumes.getVolume(ada, id)).toMatchObject({
      name: 'data',
      status: 'available',
      bootable: false,
      attachments: [],
    });
    const serverId = randomUUID();
    const attachment = await volumes.reserve(ada, { key: randomUUID(), volumeId: id, serverId });
    expect(await status(id)).toBe('reserved');
    const connected = await volumes.connect(ada, attachment.id, connector);
    expect(connected.connection).toHaveProperty('driver_volume_type');
    expect(await status(id)).toBe('attaching');
    await volumes.complete(ada, attachment.id);
    expect(await volumes.getVolume(ada, id)).toMatchObject({
      status: 'in-use',
      attachments: [{ id: attachment.id, serverId, device: '/dev/vdb', host: 'host1', status: 'attached' }],
    });
    await volumes.beginDetaching(ada, id);
    expect(await status(id)).toBe('detaching');
    await volumes.rollbackDetaching(ada, id);
    expect(await status(id)).toBe('in-use');
    await volumes.beginDetaching(ada, id);
    await volumes.deleteAttachment(ada, attachment.id);
    expect(await volumes.getVolume(ada, id)).toMatchObject({ status: 'available', attachments: [] });
  });

  it('are reserved for one of many concurrent servers', async () => {
    const { id } = await create();
    const tries = await Promise.allSettled(
      Array.from({ length: 10 }, () =>
        volumes.reserve(ada, { key: randomUUID(), volumeId: id, serverId: randomUUID() }),
      ),
    );
    const rejected = tries.filter((result) => result.status === 'rejected');
    expect(rejected).toHaveLength(9);
    for (const { reason } of rejected) expect(reason).toMatchObject(wrong);
    expect((await volumes.getVolume(ada, id)).attachments).toHaveLength(1);
  });

  it('accept repeated steps', async () => {
    const { id } = await create();
    const requested = { key: randomUUID(), volumeId: id, serverId: randomUUID() };
    const attachment = await volumes.reserve(ada, requested);
    expect(await volumes.reserve(ada, requested)).toEqual(attachment);
    expect((await volumes.reserve(ada, { ...requested, key: randomUUID() })).id).toBe(attachment.id);
    await volumes.connect(ada, attachment.id, connector);
    await volumes.connect(ada, attachment.id, connector);
    await volumes.complete(ada, attachment.id);
    await volumes.complete(ada, attachment.id);
    await volumes.connect(ada, attachment.id, { ...connector, host: 'host2' });
    expect(await status(id)).toBe('in-use');
    await volumes.deleteAttachment(ada, attachment.id);
    await volumes.deleteAttachment(ada, attachment.id);
    expect(await status(id)).toBe('available');
  });

  it('are available again after an incomplete attachment is deleted', async () => {
    const { id } = await create();
    const attachment = await volumes.reserve(ada, { key: randomUUID(), volumeId: id, serverId: randomUUID() });
    expect(await status(id)).toBe('reserved');
    await volumes.deleteAttachment(ada, attachment.id);
    expect(await status(id)).toBe('available');
  });

  // Cinder does not check the attachment's status either, so clients can complete attachments that were never
  // connected.
  it('accept the completion of an attachment without checks', async () => {
    const { id } = await create();
    const attachment = await volumes.reserve(ada, { key: randomUUID(), volumeId: id, serverId: randomUUID() });
    await volumes.complete(ada, attachment.id);
    expect(await status(id)).toBe('in-use');
    await volumes.deleteAttachment(ada, attachment.id);
    expect(await status(id)).toBe('available');
  });

  it('can temporarily be attached twice to a server that moves', async () => {
    const { id } = await create();
    const serverId = randomUUID();
    const old = await attached(id, serverId);
    const second = await volumes.reserve(ada, { key: randomUUID(), volumeId: id, serverId });
    expect(second.id).not.toBe(old.id);
    await expect(
      volumes.reserve(ada, { key: randomUUID(), volumeId: id, serverId: randomUUID() }),
    ).rejects.toMatchObject(wrong);
    await volumes.deleteAttachment(ada, old.id);
    expect(await status(id)).toBe('reserved');
  });

  it('with multiattach stay in use until the last server is detached', async () => {
    const { id, multiattach } = await create({ volumeType: 'shared' });
    expect(multiattach).toBe(true);
    const [one, two] = [await attached(id), await attached(id)];
    await volumes.deleteAttachment(ada, one.id);
    expect(await status(id)).toBe('in-use');
    await volumes.deleteAttachment(ada, two.id);
    expect(await status(id)).toBe('available');
  });

  it('from images are bootable and have the metadata of the image', async () => {
    await expect(create({ imageId: CIRROS, sizeGb: 1 })).rejects.toMatchObject({ code: 'VOLUME_INVALID', status: 400 });
    const created = await create({ imageId: CIRROS, sizeGb: 2 });
    expect(created).toMatchObject({
      bootable: true,
      volumeType: '__DEFAULT__',
      imageMetadata: { image_id: CIRROS, min_disk: '2', os_distro: 'cirros' },
    });
    await expect(create({ imageId: randomUUID() })).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
  });

  it('from snapshots and volumes have at least their size', async () => {
    const origin = await create({ imageId: CIRROS, sizeGb: 4 });
    const snapshot = await volumes.createSnapshot(ada, { key: randomUUID(), volumeId: origin.id, name: 's' });
    expect(snapshot).toMatchObject({ status: 'available', sizeGb: 4, volumeId: origin.id });
    expect(await create({ snapshotId: snapshot.id, sizeGb: undefined })).toMatchObject({ sizeGb: 4, bootable: true });
    expect(await create({ sourceVolumeId: origin.id, sizeGb: 5 })).toMatchObject({ sizeGb: 5, bootable: true });
    await expect(create({ snapshotId: snapshot.id, sizeGb: 3 })).rejects.toMatchObject({ code: 'VOLUME_INVALID' });
    await expect(volumes.deleteVolume(ada, origin.id)).rejects.toMatchObject(wrong);
    await volumes.deleteSnapshot(ada, snapshot.id);
    await volumes.deleteSnapshot(ada, snapshot.id);
    await volumes.deleteVolume(ada, origin.id);
    await volumes.deleteVolume(ada, origin.id);
    await expect(volumes.getVolume(ada, origin.id)).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
  });

  it('are created once by repeated creations, even by concurrent ones, and so are snapshots', async () => {
    const key = randomUUID();
    const created = await Promise.all([1, 2, 3].map(() => create({ key })));
    expect(new Set(created.map((volume) => volume.seq)).size).toBe(1);
    const requested = { key: randomUUID(), volumeId: key };
    const shots = await Promise.all([1, 2, 3].map(() => volumes.createSnapshot(ada, requested)));
    expect(new Set(shots.map((snapshot) => snapshot.seq)).size).toBe(1);
    await expect(create({ key }, bob)).rejects.toMatchObject({ code: 'VOLUME_EXISTS' });
  });

  it('in use get snapshots only with force', async () => {
    const { id } = await create();
    await attached(id);
    await expect(volumes.createSnapshot(ada, { key: randomUUID(), volumeId: id })).rejects.toMatchObject(wrong);
    const forced = await volumes.createSnapshot(ada, { key: randomUUID(), volumeId: id, force: true });
    await volumes.updateSnapshotStatus(ada, forced.id, 'error', '50%');
    expect(await volumes.getSnapshot(ada, forced.id)).toMatchObject({ status: 'error', progress: '50%' });
    await expect(create({ snapshotId: forced.id })).rejects.toMatchObject({ code: 'SNAPSHOT_WRONG_STATUS' });
  });

  it('are not deleted while in use, nor detached unless in use', async () => {
    const { id } = await create();
    await expect(volumes.beginDetaching(ada, id)).rejects.toMatchObject(wrong);
    await attached(id);
    await expect(volumes.deleteVolume(ada, id)).rejects.toMatchObject(wrong);
  });

  it('of other projects are hidden, as are their snapshots and attachments', async () => {
    const { id } = await create();
    const attachment = await attached(id);
    const snapshot = await volumes.createSnapshot(ada, { key: randomUUID(), volumeId: id, force: true });
    await expect(volumes.getVolume(bob, id)).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND', status: 404 });
    await expect(volumes.deleteVolume(bob, id)).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
    await expect(volumes.getSnapshot(bob, snapshot.id)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
    await expect(volumes.deleteSnapshot(bob, snapshot.id)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
    await expect(volumes.deleteAttachment(bob, attachment.id)).rejects.toMatchObject({ code: 'ATTACHMENT_NOT_FOUND' });
    expect(await volumes.listVolumes(bob)).toEqual([]);
    expect((await volumes.listVolumes(admin, { allProjects: true })).map((volume) => volume.id)).toContain(id);
    expect(await volumes.listVolumes(admin)).toEqual([]);
  });

  it('are listed newest first, by name, status and metadata, in pages', async () => {
    const carl: Caller = { ...ada, projectId: 'p-carl' };
    const ids = [];
    for (const tier of ['a', 'b', 'a']) ids.unshift((await create({ name: `v-${tier}`, metadata: { tier } }, carl)).id);
    const listed = async (query: object) => (await volumes.listVolumes(carl, query)).map((volume) => volume.id);
    expect(await listed({})).toEqual(ids);
    expect(await listed({ metadata: { tier: 'a' } })).toEqual([ids[0], ids[2]]);
    expect(await listed({ name: 'v-b', status: 'available' })).toEqual([ids[1]]);
    expect(await listed({ limit: 1, marker: ids[0] })).toEqual([ids[1]]);
    expect(await listed({ limit: 1, offset: 2 })).toEqual([ids[2]]);
  });

  it('are extended, which is reported to the server that uses them', async () => {
    const { id } = await create();
    const { serverId } = await attached(id);
    await expect(volumes.extendVolume(ada, id, 1)).rejects.toMatchObject({ code: 'VOLUME_INVALID' });
    await volumes.extendVolume(ada, id, 8);
    expect(await volumes.getVolume(ada, id)).toMatchObject({ sizeGb: 8, status: 'in-use' });
    expect(extended).toEqual([`${serverId} ${id}`]);
    await volumes.updateVolume(admin, id, { status: 'extending' });
    await volumes.completeExtend(admin, id, true);
    expect(await status(id)).toBe('error_extending');
  });

  it('that are reserved can be reimaged', async () => {
    const { id } = await create({ sizeGb: 2 });
    await volumes.reserve(ada, { key: randomUUID(), volumeId: id, serverId: randomUUID() });
    await volumes.reimage(ada, id, CIRROS);
    expect(await volumes.getVolume(ada, id)).toMatchObject({
      status: 'reserved',
      bootable: true,
      imageMetadata: { image_id: CIRROS },
    });
    const used = await create({ sizeGb: 2 });
    await attached(used.id);
    await expect(volumes.reimage(ada, used.id, CIRROS)).rejects.toMatchObject(wrong);
  });

  it('are replaced by the result of a migration, with the old id', async () => {
    const { id } = await create();
    const serverId = randomUUID();
    const old = await attached(id, serverId);
    const target = await volumes.beginMigration(admin, id);
    expect(await volumes.getVolume(ada, id)).toMatchObject({ migrationStatus: 'migrating' });
    const fresh = await attached(target, serverId);
    expect(await volumes.completeMigration(admin, id, target, false)).toBe(id);
    await volumes.deleteAttachment(ada, old.id);
    expect(await volumes.getVolume(ada, id)).toMatchObject({
      status: 'in-use',
      migrationStatus: 'success',
      attachments: [{ id: fresh.id, serverId }],
    });
    await expect(volumes.getVolume(ada, target)).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
  });
});
