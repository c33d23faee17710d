import { derivedUuid } from '@apistrata/catalogs/builtin';
import { tables } from '../../schema/tables.js';
import { patchDevice } from '../../servers/volumes/patch-device.js';
import { attachmentsTo } from '../../servers/volumes/server-volumes.js';
import type { ServerRun } from '../runner/server-run.js';

/**
 * Disconnects volumes from the host that a server leaves, without releasing the volumes. Each volume receives a new,
 * reserved attachment before its connected attachment is deleted. Volumes that are being attached or detached are left
 * to the jobs that do so. Idempotent.
 */
export async function reserveForOffload(run: ServerRun): Promise<void> {
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
  const { id: serverId, blockDevices } = run.server;
  for (const { id, attachedAt, attachmentId, volumeId } of blockDevices) {
    if (attachedAt === null || volumeId === null) continue;
    const key = derivedUuid(`offload/${run.job.id}/${id}`);
    const reservation = await volumes.reserve(caller, { key, volumeId, serverId }).catch(async (error) => {
      if ((await volumes.getVolume(caller, volumeId)).status !== 'detaching') throw error;
    });
    if (reservation)
      await run.update({}, async (_tx, current) => {
        const isUnchanged = current.blockDevices.some((device) => device.attachmentId === attachmentId);
        return isUnchanged ? patchDevice(current, id, { attachmentId: reservation.id }) : {};
      });
  }
  await deleteUnrecordedAttachments(run, blockDevices);
}

/**
 * Deletes the attachments that `reserveForOffload` created or replaced and that the server record does not contain.
 * Also cleans up after an attempt that was interrupted or superseded. Idempotent.
 */
export async function deleteUnrecordedAttachments(
  run: ServerRun,
  devices = run.server.blockDevices,
): Promise<undefined> {
  const server = await tables.servers.get(run.core.store, run.server.id);
  const recordedIds = server?.blockDevices.map(({ attachmentId }) => attachmentId) ?? [];
  for (const { attachedAt, volumeId } of devices) {
    if (attachedAt === null) continue;
    for (const id of await attachmentsTo(run, volumeId))
      if (!recordedIds.includes(id)) await run.core.catalogs.volumes.deleteAttachment(run.context.caller, id);
  }
}
