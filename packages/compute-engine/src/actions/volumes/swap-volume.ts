import { randomUUID } from 'node:crypto';
import { ignoreRejection } from '@apistrata/catalogs';
import { badRequest, conflict } from '../../errors/rejection.js';
import { deletePossibleReservation } from '../../servers/volumes/drop-reservation.js';
import { concurrentAction } from '../runner/action.js';
import type { ConcurrentRun } from '../runner/concurrent-run.js';
import { changeDevice, requireDevice } from './attached-device.js';
import { findAttachedDevice, findVolume } from './find-volume.js';

/** A request to replace an attached volume with another volume. */
export interface VolumeSwap {
  readonly oldVolumeId: string;
  readonly newVolumeId: string;
}

/** Arguments of the job that swaps two volumes. */
export interface SwapVolumeArguments extends VolumeSwap {
  readonly deviceId: string;
  /** Key of the new volume's reservation. */
  readonly key: string;
}

/**
 * Replaces the old volume with the new one. Returns the id of the volume that now contains the data, and the id of its
 * attachment.
 */
async function swap(run: ConcurrentRun<SwapVolumeArguments>): Promise<{ volumeId: string; attachmentId: string }> {
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
  const { deviceId, oldVolumeId, newVolumeId, key } = run.arguments;
  const device = requireDevice(run.server, deviceId);
  // The volume service may have moved the new attachment to the old volume before an earlier attempt crashed.
  const movedAttachment = (await ignoreRejection(volumes.getVolume(caller, oldVolumeId)))?.attachments.find(
    ({ id }) => id === key,
  );
  if (movedAttachment) return { volumeId: oldVolumeId, attachmentId: movedAttachment.id };
  const { id: attachmentId } = await volumes.reserve(caller, {
    key,
    volumeId: newVolumeId,
    serverId: run.server.id,
  });
  await volumes.connect(caller, attachmentId, { host: run.server.host ?? '', mountpoint: device.device });
  await run.perform({ verb: 'swap_volume', device, newVolumeId });
  await volumes.complete(caller, attachmentId);
  const volumeId = await volumes.completeMigration(caller, oldVolumeId, newVolumeId, false);
  if (device.attachmentId) await ignoreRejection(volumes.deleteAttachment(caller, device.attachmentId));
  return { volumeId, attachmentId };
}

/** Replaces a device's volume with the volume to which the volume service is migrating the data. */
export const swapVolume = concurrentAction({
  name: 'swapVolume',
  vmStates: ['active', 'paused', 'resized'],
  lock: true,
  history: 'swap_volume',
  notifies: 'volume_swap',
  nameInMessages: 'swap_volume',
  begin: async (scope, { oldVolumeId, newVolumeId }: VolumeSwap) => {
    const { core, context, server } = scope;
    const { volumes } = core.catalogs;
    const { caller } = context;
    const oldVolume = await findVolume(scope, oldVolumeId);
    if (oldVolume.migrationStatus !== 'migrating')
      throw conflict(`Volume ${oldVolumeId} is not being migrated, so it cannot be replaced on server ${server.id}.`);
    const replacement = await findVolume(scope, newVolumeId, badRequest);
    const device = findAttachedDevice(server, oldVolumeId);
    if (replacement.sizeGb < oldVolume.sizeGb)
      throw badRequest(`Volume ${newVolumeId} is smaller (${replacement.sizeGb} GiB) than volume ${oldVolumeId}.`);
    if (replacement.status !== 'available')
      throw badRequest(`Volume ${newVolumeId} must be available, but it is ${replacement.status}.`);
    const key = randomUUID();
    const args: SwapVolumeArguments = { deviceId: device.id, oldVolumeId, newVolumeId, key };
    return {
      arguments: args,
      perform: async () => {
        await volumes.beginDetaching(caller, oldVolumeId);
        await volumes.reserve(caller, { key, volumeId: newVolumeId, serverId: server.id }).catch(async (error) => {
          await volumes.rollbackDetaching(caller, oldVolumeId);
          throw error;
        });
        return {};
      },
    };
  },
  run: async (run) => {
    const newVolume = await run.step('compute_swap_volume', () => swap(run));
    await changeDevice(run, run.arguments.deviceId, newVolume);
  },
  undo: async (run) => {
    const { oldVolumeId, newVolumeId, key } = run.arguments;
    const { volumes } = run.core.catalogs;
    const { caller } = run.context;
    const serverId = run.server.id;
    await deletePossibleReservation(run.core, caller, { key, volumeId: newVolumeId, serverId });
    await ignoreRejection(volumes.rollbackDetaching(caller, oldVolumeId));
    await ignoreRejection(volumes.completeMigration(caller, oldVolumeId, newVolumeId, true));
  },
});
