import { randomUUID } from 'node:crypto';
import type { ServerScope } from '../../core.js';
import type { BlockDevice } from '../../model/index.js';
import { type SnapshotRequest, snapshotImage } from './snapshot.js';
import { whileQuiesced } from './while-quiesced.js';

/** A disk as an image remembers it: volumes by a snapshot of them. */
async function mappingOf(
  { core, context }: ServerScope,
  name: string,
  device: BlockDevice,
): Promise<Record<string, unknown>> {
  const common = {
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
      ...common,
      source_type: device.source,
      destination_type: device.destination,
      volume_size: device.sizeGb,
    };
  }
  const snapshot = await core.catalogs.volumes.createSnapshot(context.caller, {
    key: randomUUID(),
    volumeId: device.volumeId,
    name: `snapshot for ${name}`,
    force: true,
  });
  return {
    ...common,
    source_type: 'snapshot',
    destination_type: 'volume',
    snapshot_id: snapshot.id,
    volume_size: snapshot.sizeGb,
    volume_type: device.volumeType,
  };
}

/**
 * Makes an image without content of its own: it says of which snapshots the disks of a volume-backed server are made, as they
 * are at one moment where the guest can be quiet. `refused` takes all of that back.
 */
export async function snapshotVolumes(
  scope: ServerScope,
  action: string,
  { name, metadata }: SnapshotRequest,
): Promise<{ readonly imageId: string; readonly refused: () => Promise<void> }> {
  const { core, context, server } = scope;
  const { images, volumes } = core.catalogs;
  const { caller } = context;
  const imageId = randomUUID();
  const mappings: Record<string, unknown>[] = [];
  const refused = async () => {
    await images.delete(caller, imageId).catch(() => {});
    for (const { snapshot_id } of mappings)
      if (snapshot_id) await volumes.deleteSnapshot(caller, String(snapshot_id)).catch(() => {});
  };
  try {
    await whileQuiesced(scope, action, async () => {
      for (const device of server.blockDevices) mappings.push(await mappingOf(scope, name, device));
    });
    const properties = {
      ...metadata,
      block_device_mapping: JSON.stringify(mappings),
      bdm_v2: 'True',
      root_device_name: server.rootDeviceName ?? '',
    };
    await images.create(caller, snapshotImage(server, imageId, { name, type: 'snapshot', properties }, undefined));
    await images.upload(caller, imageId, new Uint8Array());
  } catch (error) {
    await refused();
    throw error;
  }
  return { imageId, refused };
}
