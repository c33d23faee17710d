import { ignoreRejection } from '@apistrata/catalogs';
import { badRequest, conflict } from '../../errors/rejection.js';
import { isHostDown } from '../hosts.js';
import { concurrentAction } from '../runner/action.js';
import { removeDevice, requireDevice } from './attached-device.js';
import { findAttachedDevice, findVolume } from './find-volume.js';

/** A request to detach a volume from a server. */
export interface VolumeDetachment {
  readonly volumeId: string;
}

/** Arguments of the job that detaches a volume. */
export interface DetachVolumeArguments {
  readonly deviceId: string;
  readonly volumeId: string;
}

/** Detaches a volume from a server. */
export const detachVolume = concurrentAction({
  name: 'detachVolume',
  vmStates: ['active', 'paused', 'stopped', 'resized', 'soft-delete', 'shelved', 'shelved_offloaded'],
  lock: true,
  history: 'detach_volume',
  notifies: 'volume_detach',
  nameInMessages: 'detach_volume',
  begin: async (scope, { volumeId }: VolumeDetachment) => {
    const { core, context, server } = scope;
    const volume = await findVolume(scope, volumeId);
    const device = findAttachedDevice(server, volumeId);
    if (device.bootIndex === 0) throw badRequest('Cannot detach a root device volume');
    if (await isHostDown(core, server))
      throw conflict(`Compute service of ${server.host} is unavailable at this time.`);
    const args: DetachVolumeArguments = { deviceId: device.id, volumeId };
    // A volume that is only reserved for a server without a host does not need to be disconnected.
    const isOnlyReserved = volume.status === 'reserved' && device.attachmentId && !server.host;
    return {
      arguments: args,
      perform: async () => {
        if (!isOnlyReserved) await core.catalogs.volumes.beginDetaching(context.caller, volumeId);
        return {};
      },
    };
  },
  run: async (run) => {
    const { deviceId } = run.arguments;
    const { volumes } = run.core.catalogs;
    const release = (id: string) => volumes.deleteAttachment(run.context.caller, id);
    const releasedId = await run.step('compute_detach_volume', async () => {
      const device = requireDevice(run.server, deviceId);
      if (run.server.host) await run.perform({ verb: 'detach_volume', device });
      if (device.attachmentId) await release(device.attachmentId);
      return device.attachmentId;
    });
    await removeDevice(run, deviceId, releasedId, release);
  },
  undo: async (run) => {
    await ignoreRejection(run.core.catalogs.volumes.rollbackDetaching(run.context.caller, run.arguments.volumeId));
  },
});
