import { randomUUID } from 'node:crypto';
import { unlessRefused } from '@apistrata/catalogs';
import { badRequest, conflict } from '../../errors/refusal.js';
import { forgetReservation } from '../../servers/volumes/forget-reservation.js';
import { concurrentAction } from '../runner/action.js';
import type { ConcurrentRun } from '../runner/concurrent-run.js';
import { changeDevice, deviceOf } from './attached-device.js';
import { attachedDevice, findVolume } from './find-volume.js';

/** Which volume takes the place of which. */
export interface VolumeSwap {
  readonly oldVolumeId: string;
  readonly newVolumeId: string;
}

/** What the stored work knows. */
export interface SwapVolumeArguments extends VolumeSwap {
  readonly deviceId: string;
  /** Key under which the new volume is reserved. */
  readonly key: string;
}

/** Puts the new volume in the place of the old one. Resolves to the id under which the content lives on. */
async function swap(run: ConcurrentRun<SwapVolumeArguments>): Promise<{ volumeId: string; attachmentId: string }> {
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
  const { deviceId, oldVolumeId, newVolumeId, key } = run.arguments;
  const device = deviceOf(run.server, deviceId);
  // The volume service may have given the new attachment to the old volume before an earlier attempt could say so.
  const moved = (await unlessRefused(volumes.getVolume(caller, oldVolumeId)))?.attachments.find(({ id }) => id === key);
  if (moved) return { volumeId: oldVolumeId, attachmentId: moved.id };
  const { id: attachmentId } = await volumes.reserve(caller, {
    key,
    volumeId: newVolumeId,
    serverId: run.server.id,
  });
  await volumes.connect(caller, attachmentId, { host: run.server.host ?? '', mountpoint: device.device });
  await run.perform({ verb: 'swap_volume', device, newVolumeId });
  await volumes.complete(caller, attachmentId);
  const volumeId = await volumes.completeMigration(caller, oldVolumeId, newVolumeId, false);
  if (device.attachmentId) await unlessRefused(volumes.deleteAttachment(caller, device.attachmentId));
  return { volumeId, attachmentId };
}

/** Exchanges the volume behind a device for the one it is being migrated to. */
export const swapVolume = concurrentAction({
  name: 'swapVolume',
  vm: ['active', 'paused', 'resized'],
  lock: true,
  history: 'swap_volume',
  notifies: 'volume_swap',
  word: 'swap_volume',
  begin: async (scope, { oldVolumeId, newVolumeId }: VolumeSwap) => {
    const { core, context, server } = scope;
    const { volumes } = core.catalogs;
    const { caller } = context;
    const old = await findVolume(scope, oldVolumeId);
    if (old.migrationStatus !== 'migrating')
      throw conflict(`Volume ${oldVolumeId} is not being migrated, so server ${server.id} keeps it.`);
    const replacement = await findVolume(scope, newVolumeId, badRequest);
    const device = attachedDevice(server, oldVolumeId);
    if (replacement.sizeGb < old.sizeGb)
      throw badRequest(`Volume ${newVolumeId} is smaller (${replacement.sizeGb} GiB) than volume ${oldVolumeId}.`);
    if (replacement.status !== 'available')
      throw badRequest(`Volume ${newVolumeId} must be available, but it is ${replacement.status}.`);
    const key = randomUUID();
    const args: SwapVolumeArguments = { deviceId: device.id, oldVolumeId, newVolumeId, key };
    return {
      arguments: args,
      ask: async () => {
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
    const swapped = await run.step('compute_swap_volume', () => swap(run));
    await changeDevice(run, run.arguments.deviceId, swapped);
  },
  undo: async (run) => {
    const { oldVolumeId, newVolumeId, key } = run.arguments;
    const { volumes } = run.core.catalogs;
    const { caller } = run.context;
    const serverId = run.server.id;
    await forgetReservation(run.core, caller, { key, volumeId: newVolumeId, serverId, attachmentId: null });
    await unlessRefused(volumes.rollbackDetaching(caller, oldVolumeId));
    await unlessRefused(volumes.completeMigration(caller, oldVolumeId, newVolumeId, true));
  },
});
