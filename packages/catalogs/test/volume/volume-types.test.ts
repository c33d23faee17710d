import { randomUUID } from 'node:crypto';
import type { Store } from '@apistrata/record-store';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { embeddedVolumes } from '../../src/volume/builtin/embedded-volumes.js';
import type { VolumeStorage } from '../../src/volume/volume-storage.js';
import { storesUnderTest } from '../stores-under-test.js';
import { ada, admin, bob, preset, type VolumesUnderTest, volumesUnderTest } from './volumes-under-test.js';

describe.each(storesUnderTest(inject('postgresUrl')))(
  'types and presets of embedded volumes, on $kind,',
  ({ open }) => {
    let store: Store;
    let volumes: VolumesUnderTest['volumes'];
    let create: VolumesUnderTest['create'];
    let close: () => Promise<void>;
    beforeAll(async () => {
      ({ store, volumes, create, close } = await volumesUnderTest(open));
    });
    afterAll(() => close());

    it('have unique names, are found by name or id, are renamed with their volumes, and are not deleted while in use', async () => {
      const type = await volumes.createType(admin, { name: 'fast' });
      expect(await volumes.getType(ada, 'fast')).toEqual(type);
      expect(await volumes.getType(ada, type.id)).toEqual(type);
      await expect(volumes.createType(admin, { name: 'fast' })).rejects.toMatchObject({ code: 'VOLUME_TYPE_EXISTS' });
      const { id } = await create({ volumeType: type.id });
      expect(await volumes.getVolume(ada, id)).toMatchObject({ volumeType: 'fast' });
      await volumes.updateType(admin, type.id, { name: 'faster' });
      expect(await volumes.getVolume(ada, id)).toMatchObject({ volumeType: 'faster' });
      await expect(volumes.deleteType(admin, type.id)).rejects.toMatchObject({ code: 'VOLUME_TYPE_IN_USE' });
      await volumes.deleteVolume(ada, id);
      await volumes.deleteType(admin, type.id);
      await expect(create({ volumeType: 'fast' })).rejects.toMatchObject({
        code: 'VOLUME_TYPE_NOT_FOUND',
        status: 404,
      });
    });

    it('are renamed and deleted correctly while the content of a volume is created', async () => {
      const type = await volumes.createType(admin, { name: 'slow' });
      const changes = [
        () => volumes.updateType(admin, type.id, { name: 'slower' }),
        () => volumes.deleteType(admin, type.id),
      ];
      const storage = { create: async () => void (await changes.shift()?.()) } as unknown as VolumeStorage;
      const stored = embeddedVolumes({ store, storage: () => storage });
      const volume = await stored.createVolume(ada, { key: randomUUID(), sizeGb: 1, volumeType: 'slow' });
      expect(volume).toMatchObject({ volumeType: 'slower' });
      await volumes.deleteVolume(ada, volume.id);
      await expect(
        stored.createVolume(ada, { key: randomUUID(), sizeGb: 1, volumeType: 'slower' }),
      ).rejects.toMatchObject({ code: 'VOLUME_TYPE_NOT_FOUND' });
    });

    it('keep their changes when the preset is seeded again', async () => {
      const [seeded] = preset.volumes;
      await volumes.updateVolume(ada, seeded!.id, { name: 'renamed' });
      await volumes.seed(preset);
      expect(await volumes.getVolume(ada, seeded!.id)).toMatchObject({ name: 'renamed', sizeGb: 3 });
      expect((await volumes.listTypes(ada)).map((type) => type.name).sort()).toEqual(['__DEFAULT__', 'shared']);
    });

    it('are created for unknown ids if these are accepted', async () => {
      const accepting = embeddedVolumes({ store, unknown: 'accept' });
      const [volumeId, snapshotId] = [randomUUID(), randomUUID()];
      const attachment = await accepting.reserve(ada, { key: randomUUID(), volumeId, serverId: randomUUID() });
      expect(await volumes.getVolume(ada, volumeId)).toMatchObject({
        status: 'reserved',
        attachments: [{ id: attachment.id }],
      });
      expect(await accepting.getSnapshot(ada, snapshotId)).toMatchObject({ id: snapshotId, status: 'available' });
      expect(await volumes.getSnapshot(ada, snapshotId)).toMatchObject({ id: snapshotId });
      expect(await accepting.getType(ada, 'unheard-of')).toMatchObject({ name: 'unheard-of' });
      await expect(accepting.getVolume(bob, volumeId)).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
    });
  },
);
