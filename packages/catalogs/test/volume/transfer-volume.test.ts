import { randomUUID } from 'node:crypto';
import type { Store } from '@apistrata/record-store';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Caller } from '../../src/caller/caller.js';
import { embeddedVolumes } from '../../src/volume/builtin/embedded-volumes.js';
import { storesUnderTest } from '../stores-under-test.js';

const ada: Caller = { userId: 'ada', projectId: 'p-ada', roles: ['member'] };
const bob: Caller = { userId: 'bob', projectId: 'p-bob', roles: ['member'] };

describe.each(storesUnderTest(inject('postgresUrl')))('a volume that is transferred, on $kind', ({ open }) => {
  let store: Store;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ store, close } = await open());
  });
  afterAll(() => close());

  it.each([true, false])('belongs to the other project, with its snapshots: %s', async (withSnapshots) => {
    const volumes = embeddedVolumes({ store });
    const { id } = await volumes.createVolume(ada, { key: randomUUID(), sizeGb: 1 });
    await volumes.createSnapshot(ada, { key: randomUUID(), volumeId: id });
    await volumes.updateVolume(ada, id, { status: 'awaiting-transfer' });
    await volumes.transferVolume(id, { projectId: bob.projectId, userId: bob.userId, withSnapshots });
    const given = await volumes.getVolume(bob, id);
    expect(given).toMatchObject({ projectId: 'p-bob', userId: 'bob', status: 'available' });
    await expect(volumes.getVolume(ada, id)).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
    expect(await volumes.listSnapshots(bob, { volumeId: id })).toHaveLength(withSnapshots ? 1 : 0);
  });

  it('must await the transfer', async () => {
    const volumes = embeddedVolumes({ store });
    const { id } = await volumes.createVolume(ada, { key: randomUUID(), sizeGb: 1 });
    const to = { projectId: bob.projectId, userId: bob.userId, withSnapshots: true };
    await expect(volumes.transferVolume(id, to)).rejects.toMatchObject({ code: 'VOLUME_WRONG_STATUS' });
    expect(await volumes.getVolume(ada, id)).toMatchObject({ projectId: 'p-ada' });
  });

  it('must exist', async () => {
    const to = { projectId: 'p', userId: 'u', withSnapshots: true };
    await expect(embeddedVolumes({ store }).transferVolume(randomUUID(), to)).rejects.toMatchObject({
      code: 'VOLUME_NOT_FOUND',
    });
  });
});
