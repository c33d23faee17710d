import { unlessRefused } from '../catalogs/unless-refused.js';
import { deviceOf, dropDevice } from './attached-volume.js';
import type { SideTask } from './side-run.js';

interface DetachVolumeArguments {
  readonly deviceId: string;
  readonly volumeId: string;
}

/** Takes a volume away that the request has put into `detaching`. */
export const detachVolumeTask: SideTask = {
  action: 'detachVolume',
  run: async (run) => {
    const { deviceId } = run.arguments as DetachVolumeArguments;
    await run.step('compute_detach_volume', async () => {
      const device = deviceOf(run.server, deviceId);
      if (run.server.host) await run.perform({ verb: 'detach_volume', device });
      if (device.attachmentId)
        await run.core.catalogs.volumes.deleteAttachment(run.context.caller, device.attachmentId);
    });
    await dropDevice(run, deviceId);
  },
  undo: async (run) => {
    const { volumeId } = run.arguments as DetachVolumeArguments;
    await unlessRefused(run.core.catalogs.volumes.rollbackDetaching(run.context.caller, volumeId));
  },
};
