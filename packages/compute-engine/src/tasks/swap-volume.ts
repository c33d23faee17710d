import { unlessRefused } from '../catalogs/unless-refused.js';
import { changeDevice, deviceOf, forgetAttachment } from './attached-volume.js';
import type { SideRun, SideTask } from './side-run.js';

interface SwapVolumeArguments {
  readonly deviceId: string;
  readonly oldVolumeId: string;
  readonly newVolumeId: string;
  /** Key under which the new volume is reserved. */
  readonly key: string;
}

/** Puts the new volume in the place of the old one. Resolves to the id under which the content lives on. */
async function swap(
  run: SideRun,
  { deviceId, oldVolumeId, newVolumeId, key }: SwapVolumeArguments,
): Promise<{ volumeId: string; attachmentId: string }> {
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
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
export const swapVolumeTask: SideTask = {
  action: 'swapVolume',
  run: async (run) => {
    const asked = run.arguments as SwapVolumeArguments;
    const swapped = await run.step('compute_swap_volume', () => swap(run, asked));
    await changeDevice(run, asked.deviceId, swapped);
  },
  undo: async (run) => {
    const { oldVolumeId, newVolumeId, key } = run.arguments as SwapVolumeArguments;
    const { volumes } = run.core.catalogs;
    const { caller } = run.context;
    const serverId = run.server.id;
    await forgetAttachment(run.core, caller, { key, volumeId: newVolumeId, serverId, attachmentId: null });
    await unlessRefused(volumes.rollbackDetaching(caller, oldVolumeId));
    await unlessRefused(volumes.completeMigration(caller, oldVolumeId, newVolumeId, true));
  },
};
