import { randomUUID } from 'node:crypto';
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

describe.each(storesUnderTest(inject('postgresUrl')))('the content of volumes on $kind', ({ open }) => {
  let store: Store;
  let close: () => Promise<void>;
  let volumes: EmbeddedVolumeCatalog;
  /** What the storage was told since the test began. */
  let told: unknown[];
  let broken: Error | undefined;
  const clock = new ManualClock();
  const kept = new Map<string, number>();

  const tell = async (...what: unknown[]) => {
    if (broken) throw broken;
    told.push(what);
  };
  const storage: VolumeStorage = {
    create: async (_caller, { id, sizeGb, origin }) => {
      await tell('create', id, sizeGb, origin);
      kept.set(id, clock.now());
    },
    remove: async (id) => {
      await tell('remove', id);
      kept.delete(id);
    },
    extend: (id, sizeGb) => tell('extend', id, sizeGb),
    reimage: (_caller, id, imageId, sizeGb) => tell('reimage', id, imageId, sizeGb),
    replace: (id, newId) => tell('replace', id, newId),
    list: async () => [...kept].map(([id, storedAt]) => ({ id, storedAt })),
  };

  beforeAll(async () => {
    ({ store, close } = await open());
    const image = { id: IMAGE, status: 'active', properties: {}, minDiskGb: 1, minRamMb: 0 };
    const images = { get: async () => image as never };
    volumes = embeddedVolumes({ store, clock, images, storage: () => storage });
  });
  afterAll(() => close());
  beforeEach(() => {
    told = [];
    broken = undefined;
  });

  const create = (more: object = {}) => volumes.createVolume(ada, { key: randomUUID(), sizeGb: 2, ...more });

  it('is made with the volume, of what the volume is made of, once', async () => {
    const { id } = await create();
    const fromImage = await create({ imageId: IMAGE });
    const copy = await create({ sourceVolumeId: id, sizeGb: 3 });
    const snapshot = await volumes.createSnapshot(ada, { key: randomUUID(), volumeId: id });
    const fromSnapshot = await create({ snapshotId: snapshot.id, sizeGb: undefined });
    await create({ key: id });
    await volumes.createSnapshot(ada, { key: snapshot.id, volumeId: id });
    expect(told).toEqual([
      ['create', id, 2, { kind: 'blank' }],
      ['create', fromImage.id, 2, { kind: 'image', imageId: IMAGE }],
      ['create', copy.id, 3, { kind: 'copy', id }],
      ['create', snapshot.id, 2, { kind: 'copy', id }],
      ['create', fromSnapshot.id, 2, { kind: 'copy', id: snapshot.id }],
    ]);
  });

  it('follows the volume to its end', async () => {
    const { id } = await create();
    const snapshot = await volumes.createSnapshot(ada, { key: randomUUID(), volumeId: id });
    const target = await volumes.beginMigration(ada, id);
    told = [];
    await volumes.extendVolume(ada, id, 4);
    await volumes.reimage(ada, id, IMAGE);
    await volumes.completeMigration(ada, id, target, false);
    await expect(volumes.deleteVolume(ada, id)).rejects.toMatchObject({ code: 'VOLUME_WRONG_STATUS' });
    await volumes.deleteSnapshot(ada, snapshot.id);
    await volumes.deleteVolume(ada, id);
    expect(told).toEqual([
      ['extend', id, 4],
      ['reimage', id, IMAGE, 4],
      ['replace', id, target],
      ['remove', snapshot.id],
      ['remove', id],
    ]);
  });

  it('is not touched by what is refused', async () => {
    const { id } = await create();
    told = [];
    await expect(volumes.extendVolume(ada, id, 1)).rejects.toMatchObject({ code: 'VOLUME_INVALID' });
    await volumes.updateVolume(ada, id, { status: 'error_extending' });
    await expect(volumes.reimage(ada, id, IMAGE)).rejects.toMatchObject({ code: 'VOLUME_WRONG_STATUS' });
    const wish = { key: randomUUID(), volumeId: id };
    await expect(volumes.createSnapshot(ada, wish)).rejects.toMatchObject({ code: 'VOLUME_WRONG_STATUS' });
    expect(told).toEqual([]);
  });

  it('that cannot be kept leaves the volume as it was', async () => {
    const { id } = await create();
    broken = new Error('the disk is full');
    const unavailable = { code: 'UNAVAILABLE', message: expect.stringContaining('the disk is full') };
    const key = randomUUID();
    await expect(create({ key })).rejects.toMatchObject(unavailable);
    await expect(volumes.getVolume(ada, key)).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
    await expect(volumes.extendVolume(ada, id, 9)).rejects.toMatchObject(unavailable);
    expect(await volumes.getVolume(ada, id)).toMatchObject({ sizeGb: 2, status: 'available' });
  });

  it('that nobody knows is removed an hour after', async () => {
    const { id } = await create();
    const orphan = randomUUID();
    kept.set(orphan, clock.now());
    await volumes.sweepStorage();
    expect(kept.has(orphan)).toBe(true);
    await clock.advance(HOUR_MS + 1);
    await volumes.sweepStorage();
    expect(kept.has(orphan)).toBe(false);
    expect(kept.has(id)).toBe(true);
  });
});
