import type { BlockDevice } from '../../model/index.js';
import { untilAvailable } from '../../servers/volumes/server-volumes.js';
import type { ServerRun } from '../runner/server-run.js';
import { Superseded } from '../runner/superseded.js';

/**
 * Makes the volumes that a server is to have from images, snapshots or nothing. Each is written down as soon as there is
 * one, so that whoever removes the server finds it.
 */
export async function createBootVolumes(run: ServerRun): Promise<readonly BlockDevice[]> {
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
  const owed = run.server.blockDevices.filter(
    ({ destination, source }) => destination === 'volume' && source !== 'volume',
  );
  for (const device of owed) {
    const volume = await volumes.createVolume(caller, {
      key: device.volumeId ?? device.id,
      sizeGb: device.sizeGb ?? undefined,
      name: '',
      volumeType: device.volumeType,
      imageId: device.source === 'image' ? device.sourceId : null,
      snapshotId: device.source === 'snapshot' ? device.sourceId : null,
    });
    if (device.volumeId !== volume.id) await rememberVolume(run, device, volume.id);
    await untilAvailable(run, volume.id);
  }
  return run.server.blockDevices;
}

async function rememberVolume(run: ServerRun, { id }: BlockDevice, volumeId: string): Promise<void> {
  const blockDevices = run.server.blockDevices.map((device) => (device.id === id ? { ...device, volumeId } : device));
  await run.update({ blockDevices }).catch(async (error) => {
    if (error instanceof Superseded) await run.core.catalogs.volumes.deleteVolume(run.context.caller, volumeId);
    throw error;
  });
}
