import { randomUUID } from 'node:crypto';
import type { ServerScope } from '../../core/core.js';
import type { BlockDevice } from '../../model/index.js';
import { createSnapshotRecord, type SnapshotRequest } from './snapshot.js';
import { runWhileQuiesced } from './while-quiesced.js';

/**
 * Returns the block device mapping that an image stores for a disk. If the disk is a volume, also creates the volume
 * snapshot to which the mapping refers.
 */
async function createMapping(
  { core, context }: ServerScope,
  name: string,
  device: BlockDevice,
  onCaptured: () => void,
): Promise<Record<string, unknown>> {
  const commonFields = {
    boot_index: device.bootIndex,
    device_name: device.device,
    delete_on_termination: device.deleteOnTermination,
    disk_bus: device.diskBus,
    device_type: device.deviceType,
    guest_format: device.guestFormat,
    tag: device.tag,
  };
  if (!device.volumeId) {
    return {
      ...commonFields,
      source_type: device.source,
      destination_type: device.destination,
      volume_size: device.sizeGb,
    };
  }
  const snapshotRequest = { key: randomUUID(), volumeId: device.volumeId, name: `snapshot for ${name}`, force: true };
  const snapshot = await core.catalogs.volumes.createSnapshot(context.caller, snapshotRequest, onCaptured);
  return {
    ...commonFields,
    source_type: 'snapshot',
    destination_type: 'volume',
    snapshot_id: snapshot.id,
    volume_size: snapshot.sizeGb,
    volume_type: device.volumeType,
  };
}

type MappingPromise = ReturnType<typeof createMapping>;

/**
 * Starts copying a disk. Resolves as soon as the guest may write to the disk again, even if the copy is not complete.
 */
function beginCopy(
  scope: ServerScope,
  name: string,
  device: BlockDevice,
  mappingPromises: MappingPromise[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const copy = createMapping(scope, name, device, resolve);
    mappingPromises.push(copy);
    copy.then(() => resolve(), reject);
  });
}

/**
 * Creates an image of a volume-backed server. The image has no data of its own, but refers to snapshots of the server's
 * volumes. If the guest can be quiesced, all snapshots are from the same point in time. Calling `undo` deletes the
 * image and the snapshots.
 */
export async function snapshotVolumes(
  scope: ServerScope,
  action: string,
  { name, metadata }: SnapshotRequest,
): Promise<{ readonly imageId: string; readonly undo: () => Promise<void> }> {
  const { core, context, server } = scope;
  const { images, volumes } = core.catalogs;
  const { caller } = context;
  const imageId = randomUUID();
  const mappingPromises: MappingPromise[] = [];
  const undo = async () => {
    await images.delete(caller, imageId).catch(() => {});
    for (const copy of await Promise.allSettled(mappingPromises)) {
      if (copy.status === 'rejected' || !copy.value.snapshot_id) continue;
      await volumes.deleteSnapshot(caller, String(copy.value.snapshot_id)).catch(() => {});
    }
  };
  try {
    await runWhileQuiesced(scope, action, imageId, async () => {
      await Promise.all(server.blockDevices.map((device) => beginCopy(scope, name, device, mappingPromises)));
    });
    const mappings = await Promise.all(mappingPromises);
    const properties = {
      ...metadata,
      block_device_mapping: JSON.stringify(mappings),
      bdm_v2: 'True',
      root_device_name: server.rootDeviceName ?? '',
    };
    await images.create(
      caller,
      createSnapshotRecord(server, imageId, { name, type: 'snapshot', properties }, undefined),
    );
    await images.upload(caller, imageId, new Uint8Array());
  } catch (error) {
    await undo();
    throw error;
  }
  return { imageId, undo };
}
