import { randomUUID } from 'node:crypto';
import type { Image } from '../../../catalogs/index.js';
import type { Context } from '../../../context.js';
import { badRequest } from '../../../errors.js';
import type { ActionName } from '../../../lifecycle/transitions.js';
import type { BlockDevice, Server } from '../../../model/index.js';
import { snapshotImage } from '../../../tasks/snapshot.js';
import { isVolumeBacked } from '../../../volumes/root-disk.js';
import { type ActionScope, checkMetadataQuota } from './scope.js';

export interface SnapshotRequest {
  readonly name: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Whether the properties count against the limit of metadata items. */
  readonly limitMetadata: boolean;
}

export interface BackupRequest extends SnapshotRequest {
  readonly backupType: string;
  readonly rotation: number;
}

/** Making images out of servers. */
export function snapshotActions({ core, servers }: ActionScope) {
  const { images, volumes } = core.catalogs;

  async function baseOf({ caller }: Context, { imageId }: Server): Promise<Image | undefined> {
    return imageId === '' ? undefined : images.get(caller, imageId).catch(() => undefined);
  }

  async function checkMetadata(context: Context, { metadata, limitMetadata }: SnapshotRequest): Promise<void> {
    if (limitMetadata && metadata) await checkMetadataQuota(core, context, Object.keys(metadata).length);
  }

  /** Makes the image first, as the answer names it, and takes it back when the action is refused. */
  async function withImage(
    context: Context,
    server: Server,
    action: ActionName,
    image: { readonly name: string; readonly type: 'snapshot' | 'backup' },
    properties: Readonly<Record<string, string>>,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    const id = randomUUID();
    await images.create(
      context.caller,
      snapshotImage(server, { id, ...image }, await baseOf(context, server), properties),
    );
    try {
      await servers.act(context, server.id, action, { arguments: { imageId: id, ...more } });
    } catch (error) {
      await images.delete(context.caller, id).catch(() => {});
      throw error;
    }
    return id;
  }

  /** A disk as an image remembers it: volumes by a snapshot of them. */
  async function mappingOf(context: Context, name: string, device: BlockDevice): Promise<Record<string, unknown>> {
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
    const snapshot = await volumes.createSnapshot(context.caller, {
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

  /** An image without content of its own: it says of which snapshots its disks are made. */
  async function volumeImage(context: Context, server: Server, wanted: SnapshotRequest): Promise<string> {
    const { caller } = context;
    const mappings: Record<string, unknown>[] = [];
    for (const device of server.blockDevices) mappings.push(await mappingOf(context, wanted.name, device));
    const id = randomUUID();
    const image = snapshotImage(server, { id, name: wanted.name, type: 'snapshot' }, undefined, {
      ...wanted.metadata,
      block_device_mapping: JSON.stringify(mappings),
      bdm_v2: 'True',
      root_device_name: server.rootDeviceName ?? '',
    });
    await images.create(caller, image);
    await images.upload(caller, id, new Uint8Array());
    try {
      await servers.change(context, server.id, 'createImage', () => ({}));
    } catch (error) {
      await images.delete(caller, id).catch(() => {});
      for (const { snapshot_id } of mappings)
        if (snapshot_id) await volumes.deleteSnapshot(caller, String(snapshot_id)).catch(() => {});
      throw error;
    }
    return id;
  }

  return {
    /** Resolves to the id of the image, which gets its content in the background. */
    async createImage(context: Context, id: string, wanted: SnapshotRequest): Promise<string> {
      const server = await servers.ready(context, id, 'createImage');
      await checkMetadata(context, wanted);
      if (isVolumeBacked(server)) return volumeImage(context, server, wanted);
      return withImage(context, server, 'createImage', { name: wanted.name, type: 'snapshot' }, wanted.metadata ?? {});
    },

    /** The same, and older backups of the type go. */
    async createBackup(context: Context, id: string, wanted: BackupRequest): Promise<string> {
      const server = await servers.ready(context, id, 'createBackup');
      if (isVolumeBacked(server)) throw badRequest('Backup is not supported for volume-backed instances.');
      await checkMetadata(context, wanted);
      const { name, backupType, rotation, metadata } = wanted;
      const properties = { ...metadata, backup_type: backupType };
      return withImage(context, server, 'createBackup', { name, type: 'backup' }, properties, { backupType, rotation });
    },

    /** Stops a server and puts its disk aside. */
    async shelve(context: Context, id: string): Promise<void> {
      const server = await servers.ready(context, id, 'shelve');
      if (isVolumeBacked(server)) await servers.act(context, id, 'shelve', { arguments: { imageId: null } });
      else await withImage(context, server, 'shelve', { name: `${server.name}-shelved`, type: 'snapshot' }, {});
    },
  };
}
