import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type EmbeddedVolumeCatalog, embeddedVolumes } from '../../src/volume/builtin/embedded-volumes.js';
import { storesUnderTest } from '../stores-under-test.js';

const caller = { userId: 'ada', projectId: 'p1', roles: ['member'] };

describe.each(storesUnderTest(inject('postgresUrl')))(
  'a change of a volume with an expected status on $kind',
  ({ open }) => {
    let volumes: EmbeddedVolumeCatalog;
    let close: () => Promise<void>;
    beforeAll(async () => {
      const opened = await open();
      close = opened.close;
      volumes = embeddedVolumes({ store: opened.store });
    });
    afterAll(() => close());

    it('is rejected after a server has reserved the volume', async () => {
      const { id: volumeId } = await volumes.createVolume(caller, { key: randomUUID(), sizeGb: 1 });
      await volumes.reserve(caller, { key: randomUUID(), volumeId, serverId: randomUUID() });
      const change = volumes.updateVolume(caller, volumeId, { status: 'awaiting-transfer' }, 'available');
      await expect(change).rejects.toMatchObject({ code: 'VOLUME_WRONG_STATUS', status: 400 });
      expect(await volumes.getVolume(caller, volumeId)).toMatchObject({ status: 'reserved' });
      await volumes.updateVolume(caller, volumeId, { status: 'error' }, 'reserved');
      expect(await volumes.getVolume(caller, volumeId)).toMatchObject({ status: 'error' });
    });
  },
);
