import { derivedUuid } from '@apistrata/catalogs/builtin';
import type { BlockDevice } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { attachmentsTo } from '../../servers/volumes/server-volumes.js';
import type { ServerRun } from '../runner/server-run.js';

/**
 * Disconnects volumes from the host that a server leaves, without releasing the volumes. Each volume receives a new,
 * reserved attachment before its connected attachment is deleted. Volumes that are being attached are left to the jobs
 * that attach them.
 */
export async function keepVolumesReserved(run: ServerRun): Promise<void> {
  for (const device of run.server.blockDevices) if (device.attachedAt !== null) await keepReserved(run, device);
}

/** Idempotent. A volume that is being detached is left to the job that detaches it. */
async function keepReserved(run: ServerRun, { id: deviceId, volumeId, attachmentId }: BlockDevice): Promise<void> {
  if (!attachmentId || !volumeId) return;
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
  const key = derivedUuid(`offload/${run.job.id}/${deviceId}`);
  const reservation = await volumes.reserve(caller, { key, volumeId, serverId: run.server.id }).catch(async (error) => {
    const { status } = await volumes.getVolume(caller, volumeId);
    if (status !== 'detaching') throw error;
  });
  if (!reservation) return;
  const { blockDevices } = await run.update({}, async (_tx, current) => ({
    blockDevices: current.blockDevices.map((device) =>
      device.attachmentId === attachmentId ? { ...device, attachmentId: reservation.id } : device,
    ),
  }));
  const isDetached = !blockDevices.some((device) => device.attachmentId === reservation.id);
  if (isDetached) await volumes.deleteAttachment(caller, reservation.id);
  // An attempt that is repeated no longer knows the attachment that the former attempt replaced.
  const formerIds = attachmentId === reservation.id ? await attachmentsTo(run, volumeId) : [attachmentId];
  for (const id of formerIds) if (id !== reservation.id) await volumes.deleteAttachment(caller, id);
}

/**
 * Deletes the attachments that `keepVolumesReserved` created or replaced, but which are not in the server record,
 * because another job took over the server in the meantime. Idempotent.
 */
export async function deleteUnrecordedAttachments(run: ServerRun): Promise<void> {
  const server = (await tables.servers.get(run.core.store, run.server.id)) ?? run.server;
  for (const { attachmentId, volumeId } of server.blockDevices) {
    if (attachmentId === null) continue;
    for (const id of await attachmentsTo(run, volumeId))
      if (id !== attachmentId) await run.core.catalogs.volumes.deleteAttachment(run.context.caller, id);
  }
}
