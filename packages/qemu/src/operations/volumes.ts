import type { BlockDevice } from '@apistrata/compute-engine';
import { limitDisks } from '../machine/limit-disks.js';
import { growVolume, plugVolume, replaceVolume, unplugVolume } from '../machine/volume-connection.js';
import { QemuError } from '../qemu-error.js';
import { tuningOf } from '../tuning/tuning.js';
import { volumeDeviceId } from '../volumes/volume-access.js';
import type { DriverOperations } from './operation-request.js';

/** How long a guest may take to release a volume. The request to release it is repeated in the meantime. */
const RELEASE_TIMEOUT_MS = 60_000;

function volumeIdOf({ volumeId, id }: BlockDevice): string {
  if (volumeId === null) throw new QemuError('UNSUPPORTED', `the device ${id} is not a volume`);
  return volumeId;
}

/**
 * Attaches, detaches and changes volumes of running machines. Changes to a stopped machine take effect at its next
 * start.
 */
export const volumeOperations: DriverOperations = {
  attach_volume: async ({ host, work, server }) => {
    const qmp = await host.machine(server).connectIfRunning();
    const volume = await host.volumes.open(server, volumeIdOf(work.device));
    if (!qmp) return;
    const { diskModel, diskLimits } = tuningOf(server.flavor, server.imageProperties);
    await plugVolume(qmp, volume, diskModel);
    if (diskLimits) await limitDisks(qmp, diskLimits);
  },
  detach_volume: async ({ host, work, server, signal }) => {
    const volumeId = volumeIdOf(work.device);
    const qmp = await host.machine(server).connectIfRunning();
    const timeoutMs = Math.min(RELEASE_TIMEOUT_MS, host.parts.shutdownTimeoutMs);
    if (qmp) await unplugVolume(qmp, volumeDeviceId(volumeId), timeoutMs, signal);
    await host.volumes.close(server.id, volumeId);
  },
  /** The volume's disk has already been extended, so only the guest must be notified. */
  extend_volume: async ({ host, work, server }) => {
    const qmp = await host.machine(server).connectIfRunning();
    if (qmp) await growVolume(qmp, await host.volumes.open(server, volumeIdOf(work.device)));
  },
  swap_volume: async ({ host, work, server, signal }) => {
    const qmp = await host.machine(server).qmp();
    const target = await host.volumes.open(server, work.newVolumeId);
    try {
      await replaceVolume(qmp, volumeDeviceId(volumeIdOf(work.device)), target, signal);
    } catch (error) {
      if (!signal.aborted) await host.volumes.close(server.id, work.newVolumeId);
      throw error;
    }
    await host.volumes.close(server.id, volumeIdOf(work.device));
  },
};
