import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Store } from '@apistrata/record-store';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Caller } from '../../src/caller/caller.js';
import { type EmbeddedVolumeCatalog, embeddedVolumes } from '../../src/volume/builtin/embedded-volumes.js';
import type { VolumeStorage } from '../../src/volume/volume-storage.js';
import { ManualClock } from '../manual-clock.js';
import { storesUnderTest } from '../stores-under-test.js';

const ada: Caller = { userId: 'ada', projectId: 'p-ada', roles: ['member'] };
const IMAGE = randomUUID();
const HOUR_MS = 3_600_000;
const SPACE = { backend: 'lvm', totalBytes: 3 * 2 ** 30, freeBytes: 2 * 2 ** 30, allocatedBytes: 1 };

describe.each(storesUnderTest(inject('postgresUrl')))('the content of volumes on $kind', ({ open }) => {
  let store: Store;
  let close: () => Promise<void>;
  let volumes: EmbeddedVolumeCatalog;
  /** The calls of the storage driver since the test started. */
  let calls: unknown[];
  let broken: Error | undefined;
  /** Called during each operation of the storage driver. */
  let onCall = async () => {};
  const clock = new ManualClock();
  const remaining = new Map<string, number>();

  const notify = async (...what: unknown[]) => {
    if (broken) throw broken;
    await onCall();
    calls.push(what);
  };
  const storage: VolumeStorage = {
    create: async (_caller, { id, sizeGb, origin }) => {
      await notify('create', id, sizeGb, origin);
      remaining.set(id, clock.now());
    },
    remove: async (id) => {
      await notify('remove', id);
      remaining.delete(id);
    },
    extend: (id, sizeGb) => notify('extend', id, sizeGb),
    read: async (_caller, id, format) => {
      await notify('read', id, format);
      return Readable.from([Buffer.from(`${format} image`)]);
    },
    reimage: (_caller, id, imageId, sizeGb) => notify('reimage', id, imageId, sizeGb),
    replace: (id, newId) => notify('replace', id, newId),
    usage: async () => {
      await notify('usage');
      return SPACE;
    },
    list: async () => [...remaining].map(([id, storedAt]) => ({ id, storedAt })),
  };

  beforeAll(async () => {
    ({ store, close } = await open());
    const image = { id: IMAGE, status: 'active', properties: {}, minDiskGb: 1, minRamMb: 0 };
    const images = { get: async () => image as never };
    volumes = embeddedVolumes({ store, clock, images, storage: () => storage });
  });
  afterAll(() => close());
  beforeEach(() => {
    calls = [];
    broken = undefined;
    onCall = async () => {};
  });

  const create = (more: object = {}) => volumes.createVolume(ada, { key: randomUUID(), sizeGb: 2, ...more });

  it('is created once with the volume, from its source', async () => {
    const { id } = await create();
    const fromImage = await create({ imageId: IMAGE });
    const copy = await create({ sourceVolumeId: id, sizeGb: 3 });
    const snapshot = await volumes.createSnapshot(ada, { key: randomUUID(), volumeId: id });
    const fromSnapshot = await create({ snapshotId: snapshot.id, sizeGb: undefined });
    await create({ key: id });
    await volumes.createSnapshot(ada, { key: snapshot.id, volumeId: id });
    expect(calls).toEqual([
      ['create', id, 2, { kind: 'blank' }],
      ['create', fromImage.id, 2, { kind: 'image', imageId: IMAGE }],
      ['create', copy.id, 3, { kind: 'copy', id }],
      ['create', snapshot.id, 2, { kind: 'copy', id }],
      ['create', fromSnapshot.id, 2, { kind: 'copy', id: snapshot.id }],
    ]);
  });

  it('follows the volume until its deletion', async () => {
    const { id } = await create();
    const snapshot = await volumes.createSnapshot(ada, { key: randomUUID(), volumeId: id });
    const target = await volumes.beginMigration(ada, id);
    calls = [];
    await volumes.extendVolume(ada, id, 4);
    await volumes.reimage(ada, id, IMAGE);
    await volumes.completeMigration(ada, id, target, false);
    await expect(volumes.deleteVolume(ada, id)).rejects.toMatchObject({ code: 'VOLUME_WRONG_STATUS' });
    await volumes.deleteSnapshot(ada, snapshot.id);
    await volumes.deleteVolume(ada, id);
    expect(calls).toEqual([
      ['extend', id, 4],
      ['reimage', id, IMAGE, 4],
      ['replace', id, target],
      ['remove', snapshot.id],
      ['remove', id],
    ]);
  });

  it('is not affected by rejected operations', async () => {
    const { id } = await create();
    calls = [];
    await expect(volumes.extendVolume(ada, id, 1)).rejects.toMatchObject({ code: 'VOLUME_INVALID' });
    await volumes.updateVolume(ada, id, { status: 'error_extending' });
    await expect(volumes.reimage(ada, id, IMAGE)).rejects.toMatchObject({ code: 'VOLUME_WRONG_STATUS' });
    const requested = { key: randomUUID(), volumeId: id };
    await expect(volumes.createSnapshot(ada, requested)).rejects.toMatchObject({ code: 'VOLUME_WRONG_STATUS' });
    expect(calls).toEqual([]);
  });

  it('occupies space of the storage, unless volumes are only records', async () => {
    const pool = { host: null, zone: 'nova', up: true, backend: 'lvm', totalGb: 3, freeGb: 2 };
    expect(await volumes.storagePools()).toEqual([pool]);
    expect(await embeddedVolumes({ store, clock }).storagePools()).toEqual([]);
  });

  it('is read as an image, unless volumes are only records', async () => {
    const { id } = await create();
    expect(await text((await volumes.readVolume(ada, id, 'qcow2'))!)).toBe('qcow2 image');
    expect(await embeddedVolumes({ store, clock }).readVolume(ada, id, 'qcow2')).toBeUndefined();
    broken = new Error('the disk is missing');
    const unavailable = { code: 'UNAVAILABLE', message: 'The storage of volumes failed: the disk is missing' };
    await expect(volumes.readVolume(ada, id, 'qcow2')).rejects.toMatchObject(unavailable);
  });

  it('does not change the volume if it cannot be stored', async () => {
    const { id } = await create();
    broken = new Error('the disk is full');
    const unavailable = { code: 'UNAVAILABLE', message: expect.stringContaining('the disk is full') };
    const key = randomUUID();
    await expect(create({ key })).rejects.toMatchObject(unavailable);
    await expect(volumes.getVolume(ada, key)).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
    await expect(volumes.extendVolume(ada, id, 9)).rejects.toMatchObject(unavailable);
    await expect(volumes.storagePools()).rejects.toMatchObject(unavailable);
    expect(await volumes.getVolume(ada, id)).toMatchObject({ sizeGb: 2, status: 'available' });
  });

  it('cannot be attached to a server while an image overwrites it', async () => {
    const { id: volumeId } = await create();
    const reserve = () => volumes.reserve(ada, { key: randomUUID(), volumeId, serverId: randomUUID() });
    onCall = async () => {
      await expect(reserve()).rejects.toMatchObject({ code: 'VOLUME_WRONG_STATUS' });
      expect(await volumes.getVolume(ada, volumeId)).toMatchObject({ status: 'downloading' });
    };
    await volumes.reimage(ada, volumeId, IMAGE);
    expect(await volumes.getVolume(ada, volumeId)).toMatchObject({ status: 'available', bootable: true });
    broken = new Error('the image is gone');
    await expect(volumes.reimage(ada, volumeId, IMAGE)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await reserve();
    expect(calls).toEqual([
      ['create', volumeId, 2, { kind: 'blank' }],
      ['reimage', volumeId, IMAGE, 2],
    ]);
  });

  it('without a record is removed after an hour', async () => {
    const { id } = await create();
    const orphan = randomUUID();
    remaining.set(orphan, clock.now());
    await volumes.cleanUpStorage();
    expect(remaining.has(orphan)).toBe(true);
    await clock.advance(HOUR_MS + 1);
    await volumes.cleanUpStorage();
    expect(remaining.has(orphan)).toBe(false);
    expect(remaining.has(id)).toBe(true);
  });
});
