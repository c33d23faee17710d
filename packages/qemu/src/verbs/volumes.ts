import type { BlockDevice } from '@apistrata/compute-engine';
import { limitDisks } from '../machine/limit-disks.js';
import { exchangeVolume, growVolume, plugVolume, unplugVolume } from '../machine/volume-connection.js';
import { QemuError } from '../qemu-error.js';
import { tuningOf } from '../tuning/tuning.js';
import { volumeDeviceId } from '../volumes/volume-access.js';
import type { Verbs } from './order.js';

/** How long a guest may take to let go of a volume; it is asked again and again meanwhile. */
const LET_GO_MS = 60_000;

function volumeIdOf({ volumeId, id }: BlockDevice): string {
  if (volumeId === null) throw new QemuError('NOT_POSSIBLE', `the device ${id} is no volume`);
  return volumeId;
}

/** Volumes that come, go and change. A machine that is off has them when it is started. */
export const volumes: Verbs = {
  attach_volume: async ({ host, work, server }) => {
    const qmp = await host.machine(server).running();
    const volume = await host.volumes.open(server, volumeIdOf(work.device));
    if (!qmp) return;
    const { diskModel, diskLimits } = tuningOf(server.flavor, server.imageProperties);
    await plugVolume(qmp, volume, diskModel);
    if (diskLimits) await limitDisks(qmp, diskLimits);
  },
  detach_volume: async ({ host, work, server, signal }) => {
    const volumeId = volumeIdOf(work.device);
    const qmp = await host.machine(server).running();
    const timeout = Math.min(LET_GO_MS, host.parts.shutdownTimeoutMs);
    if (qmp) await unplugVolume(qmp, volumeDeviceId(volumeId), timeout, signal);
    await host.volumes.close(server.id, volumeId);
  },
  /** The file has grown already; what is left is to tell the guest. */
  extend_volume: async ({ host, work, server }) => {
    const qmp = await host.machine(server).running();
    if (qmp) await growVolume(qmp, await host.volumes.open(server, volumeIdOf(work.device)));
  },
  swap_volume: async ({ host, work, server, signal }) => {
    const qmp = await host.machine(server).qmp();
    const target = await host.volumes.open(server, work.newVolumeId);
    try {
      await exchangeVolume(qmp, volumeDeviceId(volumeIdOf(work.device)), target, signal);
    } catch (error) {
      if (!signal.aborted) await host.volumes.close(server.id, work.newVolumeId);
      throw error;
    }
    await host.volumes.close(server.id, volumeIdOf(work.device));
  },
};
