import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { lockWithoutWaiting, waitForLockWaits } from '../../../../testing/row-locks.js';
import { volumeTables } from '../../src/volume/builtin/volume-tables.js';
import { storesUnderTest } from '../stores-under-test.js';
import { ada, admin, bob, type VolumesUnderTest, volumesUnderTest } from './volumes-under-test.js';

const tables = volumeTables;

describe.each(storesUnderTest(inject('postgresUrl')))(
  'the locks of the embedded volumes on $kind',
  ({ kind, open }) => {
    let cloud: VolumesUnderTest;
    beforeAll(async () => {
      cloud = await volumesUnderTest(open);
    });
    afterAll(() => cloud.close());
    // SQLite executes one transaction at a time.
    const test = it.runIf(kind === 'PostgreSQL');

    test('include the volume to which a completed migration has just moved an attachment', async () => {
      const { store, volumes, create } = cloud;
      const { id } = await create();
      const target = await volumes.beginMigration(ada, id);
      const attach = (volumeId: string) =>
        volumes.reserve(ada, { key: randomUUID(), volumeId, serverId: randomUUID() }).then(async (attachment) => {
          await volumes.complete(ada, attachment.id);
          return attachment;
        });
      const attachment = await attach(target);
      let deletion: Promise<void> | undefined;
      await store.transaction(async (tx) => {
        // The same changes as a completed migration.
        const volume = (await tables.volumes.lock(tx, id))!;
        await tables.volumes.lock(tx, target);
        deletion ??= volumes.deleteAttachment(ada, attachment.id);
        await waitForLockWaits(store);
        const current = (await tables.attachments.get(tx, attachment.id))!;
        await tables.attachments.update(tx, { ...current, volumeId: id });
        await tables.volumes.delete(tx, target);
        await tables.volumes.update(tx, { ...volume, status: 'in-use' });
      });
      await deletion;
      expect(await volumes.getVolume(ada, id)).toMatchObject({ status: 'available', attachments: [] });
    });

    test('prevent a deletion by the previous project of a volume that was just transferred', async () => {
      const { store, volumes, create } = cloud;
      const { id } = await create();
      let deletion: Promise<readonly PromiseSettledResult<void>[]> | undefined;
      await store.transaction(async (tx) => {
        const volume = (await tables.volumes.lock(tx, id))!;
        deletion ??= Promise.allSettled([volumes.deleteVolume(ada, id)]);
        await waitForLockWaits(store);
        await tables.volumes.update(tx, { ...volume, projectId: bob.projectId });
      });
      expect(await deletion).toMatchObject([{ status: 'rejected', reason: { code: 'VOLUME_NOT_FOUND' } }]);
      expect(await volumes.getVolume(bob, id)).toMatchObject({ status: 'available' });
    });

    test('include the new type of a volume, before the volume', async () => {
      const { store, volumes, create } = cloud;
      const { id } = await create();
      const type = await volumes.createType(admin, { name: 'gold' });
      let change: Promise<readonly PromiseSettledResult<unknown>[]> | undefined;
      await store.transaction(async (tx) => {
        await tables.types.lock(tx, type.id);
        change ??= Promise.allSettled([volumes.updateVolume(admin, id, { volumeType: 'gold' })]);
        await waitForLockWaits(store);
        await lockWithoutWaiting(tx, 'volumes', 'id', id);
        await tables.types.delete(tx, type.id);
      });
      expect(await change).toMatchObject([{ status: 'rejected', reason: { code: 'VOLUME_TYPE_NOT_FOUND' } }]);
      expect(await volumes.getVolume(ada, id)).not.toMatchObject({ volumeType: 'gold' });
    });
  },
);
