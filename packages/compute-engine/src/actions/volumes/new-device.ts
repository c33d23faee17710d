import type { Volume } from '@apistrata/catalogs';
import type { Core } from '../../core/core.js';
import { badRequest, conflict, forbidden } from '../../errors/rejection.js';
import type { BlockDevice, Server } from '../../model/index.js';
import { isDevicePathFree, nextDevicePath } from '../../servers/volumes/device-names.js';

/** A request to attach a volume. */
export interface NewAttachment {
  readonly volumeId: string;
  /** Device path such as `/dev/vdb`. Default: the next free path. */
  readonly device?: string | null;
  readonly tag?: string | null;
  readonly deleteOnTermination?: boolean;
  /** Whether volumes may be attached to shelved servers. Old microversions reject such requests with 409. */
  readonly allowShelved: boolean;
  /** Whether multiattach volumes may be attached. Old microversions reject such requests with 400. */
  readonly multiattach: boolean;
}

/** Throws a 400 error if a volume currently cannot be attached to this server. */
export async function checkAttachable(
  core: Core,
  server: Server,
  volume: Volume,
  request: NewAttachment,
): Promise<void> {
  if (volume.multiattach && !request.multiattach)
    throw badRequest('Multiattach volumes are only supported starting with compute API version 2.60.');
  if (volume.multiattach && server.vmState === 'shelved_offloaded')
    throw badRequest('Attaching multiattach volumes is not supported for shelved-offloaded instances.');
  const isAttachable = volume.status === 'available' || (volume.multiattach && volume.status === 'in-use');
  if (!isAttachable && !server.blockDevices.some(({ volumeId }) => volumeId === volume.id))
    throw badRequest(
      `Invalid volume: volume '${volume.id}' status must be 'available'. Currently in '${volume.status}' status.`,
    );
  if (core.settings.crossZoneAttach || !server.host) return;
  const { hosts } = await core.infrastructure.hosts();
  const zone = hosts.get(server.host)?.zone;
  if (zone !== volume.availabilityZone)
    throw badRequest(
      `Invalid volume: server ${server.id} is in zone ${zone} and volume ${volume.id} in zone ${volume.availabilityZone}.`,
    );
}

/**
 * Creates the block device for a volume. Throws an error if the server cannot have another device or the device name is
 * in use.
 */
export function createDevice(
  core: Core,
  server: Server,
  id: string,
  request: NewAttachment,
  volume: Volume,
): BlockDevice {
  const { volumeId, device } = request;
  if (server.blockDevices.some((attached) => attached.volumeId === volumeId))
    throw badRequest(`Invalid volume: Volume ${volumeId} is already attached to instance ${server.id}.`);
  const max = core.settings.maxDiskDevices;
  if (max >= 0 && server.blockDevices.length >= max)
    throw forbidden(`The maximum allowed number of disk devices (${max}) to attach to a single instance is exceeded.`);
  if (device && !isDevicePathFree(server, device)) throw conflict(`The supplied device path (${device}) is in use.`);
  return {
    id,
    device: device ?? nextDevicePath(server),
    source: 'volume',
    destination: 'volume',
    bootIndex: null,
    volumeId,
    sourceId: null,
    sizeGb: volume.sizeGb,
    volumeType: volume.volumeType,
    deleteOnTermination: request.deleteOnTermination ?? false,
    tag: request.tag ?? null,
    diskBus: null,
    deviceType: null,
    guestFormat: null,
    attachmentId: null,
    attachedAt: null,
  };
}
