import type { BlockDevice } from '../../model/index.js';
import { patchDevice } from '../../servers/volumes/patch-device.js';
import { waitUntilAvailable } from '../../servers/volumes/server-volumes.js';
import type { ServerRun } from '../runner/server-run.js';
import { Superseded } from '../runner/superseded.js';

/**
 * Creates a new server's volumes: from images, from snapshots, or blank. The server record lists each volume as soon as
 * the volume exists, so that deleting the server also releases the volume.
 */
export async function createBootVolumes(run: ServerRun): Promise<readonly BlockDevice[]> {
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
  const missingDevices = run.server.blockDevices.filter(
    ({ destination, source }) => destination === 'volume' && source !== 'volume',
  );
  for (const device of missingDevices) {
    const volume = await volumes.createVolume(caller, {
      key: device.volumeId ?? device.id,
      sizeGb: device.sizeGb ?? undefined,
      name: '',
      volumeType: device.volumeType,
      imageId: device.source === 'image' ? device.sourceId : null,
      snapshotId: device.source === 'snapshot' ? device.sourceId : null,
    });
    if (device.volumeId !== volume.id) await recordVolume(run, device, volume.id);
    await waitUntilAvailable(run, volume.id);
  }
  return run.server.blockDevices;
}

async function recordVolume(run: ServerRun, { id }: BlockDevice, volumeId: string): Promise<void> {
  await run.update(patchDevice(run.server, id, { volumeId })).catch(async (error) => {
    if (error instanceof Superseded) await run.core.catalogs.volumes.deleteVolume(run.context.caller, volumeId);
    throw error;
  });
}
