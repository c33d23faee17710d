import { badRequest } from '../../errors/rejection.js';
import type { Flavor } from '../../model/index.js';
import type { LegacyDevice, RequestedDevice } from './create-request.js';

/** A requested disk whose fields were validated. The size of a swap disk is in MiB; all other sizes are in GiB. */
export type DeviceDraft = DeviceOrigin & {
  readonly destination: 'local' | 'volume';
  readonly bootIndex: number | null;
  readonly size: number | null;
  readonly volumeType: string | null;
  readonly device: string | null;
  readonly deleteOnTermination: boolean;
  readonly guestFormat: string | null;
  readonly deviceType: string | null;
  readonly diskBus: string | null;
  readonly tag: string | null;
};

/** The source of a disk's content. */
type DeviceOrigin =
  | { readonly source: 'volume' | 'image' | 'snapshot'; readonly sourceId: string }
  | { readonly source: 'blank'; readonly sourceId: null };

/** A request to remove a device, by its name, from the devices that the image defines. */
export interface DeviceRemoval {
  readonly removedDevice: string;
}

const DISK_BUSES = ['fdc', 'ide', 'sata', 'scsi', 'usb', 'virtio', 'xen', 'lxc', 'uml'];
const MAX_LOCAL_DEVICES = 3;

export function invalidMappingError(reason: string) {
  return badRequest(`Block Device Mapping is Invalid: ${reason}`);
}

/** Normalizes a device name: `vda` and `/dev/vda` are the same device. */
export function normalizeDevicePath(name: string | undefined): string | null {
  if (name === undefined) return null;
  return name.startsWith('/dev/') ? name : `/dev/${name}`;
}

export const isSwap = ({ source, destination, guestFormat }: DeviceDraft) =>
  source === 'blank' && destination === 'local' && guestFormat === 'swap';

export const isEphemeral = (draft: DeviceDraft) =>
  draft.source === 'blank' && draft.destination === 'local' && !isSwap(draft);

const blankDraft: DeviceDraft = {
  source: 'blank',
  destination: 'local',
  sourceId: null,
  bootIndex: null,
  size: null,
  volumeType: null,
  device: null,
  deleteOnTermination: false,
  guestFormat: null,
  deviceType: null,
  diskBus: null,
  tag: null,
};

/** Returns the `DeviceDraft` of a local root disk that is created from an image. */
export function createImageRoot(imageId: string): DeviceDraft {
  return { ...blankDraft, source: 'image', sourceId: imageId, bootIndex: 0, deleteOnTermination: true };
}

/** Returns the requested source of a disk's content. Throws 400 if the source is missing or ambiguous. */
export function originOf({ source, sourceId }: Pick<RequestedDevice, 'source' | 'sourceId'>): DeviceOrigin {
  if (!source) throw invalidMappingError('a source_type is required.');
  if (source === 'blank') {
    if (sourceId !== undefined) throw invalidMappingError('a blank device cannot have a uuid.');
    return { source, sourceId: null };
  }
  if (sourceId === undefined) throw invalidMappingError(`the ${source} of a device must be specified by its uuid.`);
  return { source, sourceId };
}

/** Converts a requested disk to a `DeviceDraft`. Throws 400 if the fields of the disk contradict each other. */
export function draftOf(requestedDevice: RequestedDevice, imageId: string | undefined): DeviceDraft | DeviceRemoval {
  const device = normalizeDevicePath(requestedDevice.device);
  if (requestedDevice.noDevice) return { removedDevice: device ?? '' };
  const { source, size } = requestedDevice;
  const origin = originOf(requestedDevice);
  const destination =
    requestedDevice.destination ?? (source === 'volume' || source === 'snapshot' ? 'volume' : 'local');
  const bootIndex =
    requestedDevice.bootIndex === undefined || requestedDevice.bootIndex === null || requestedDevice.bootIndex < 0
      ? null
      : requestedDevice.bootIndex;
  if (destination === 'local') {
    if (source === 'volume' || source === 'snapshot')
      throw invalidMappingError(`a ${source} requires the destination_type volume.`);
    if (source === 'image' && (bootIndex !== 0 || !imageId)) {
      throw invalidMappingError('Mapping image to local is not supported.');
    }
    if (requestedDevice.volumeType) throw invalidMappingError('a volume_type requires the destination_type volume.');
  } else if ((source === 'image' || source === 'blank') && !size) {
    throw invalidMappingError(
      `${source === 'image' ? 'a volume created from an image' : 'a blank volume'} needs a size.`,
    );
  }
  if (source === 'volume' && requestedDevice.volumeType)
    throw invalidMappingError('the volume_type of an existing volume cannot be set.');
  if (requestedDevice.diskBus !== undefined && !DISK_BUSES.includes(requestedDevice.diskBus)) {
    throw invalidMappingError(`unknown disk_bus ${requestedDevice.diskBus}.`);
  }
  return {
    ...origin,
    destination,
    bootIndex,
    size: size ?? null,
    volumeType: requestedDevice.volumeType || null,
    device,
    deleteOnTermination: requestedDevice.deleteOnTermination ?? false,
    guestFormat: requestedDevice.guestFormat ?? null,
    deviceType: requestedDevice.deviceType ?? null,
    diskBus: requestedDevice.diskBus ?? null,
    tag: requestedDevice.tag ?? null,
  };
}

function parseLegacyDevice(legacyDevice: LegacyDevice): DeviceDraft | DeviceRemoval {
  const commonFields = {
    ...blankDraft,
    device: normalizeDevicePath(legacyDevice.device),
    size: legacyDevice.size ?? null,
    deleteOnTermination: legacyDevice.deleteOnTermination ?? false,
  };
  const { virtualName, snapshotId, volumeId } = legacyDevice;
  if (virtualName === 'swap') return { ...commonFields, guestFormat: 'swap', deleteOnTermination: true };
  if (/^ephemeral\d+$/.test(virtualName ?? '')) return { ...commonFields, deleteOnTermination: true };
  if (snapshotId !== undefined)
    return { ...commonFields, source: 'snapshot', destination: 'volume', sourceId: snapshotId };
  if (volumeId !== undefined) return { ...commonFields, source: 'volume', destination: 'volume', sourceId: volumeId };
  if (legacyDevice.noDevice) return { removedDevice: commonFields.device ?? '' };
  throw invalidMappingError('a device must specify a volume, a snapshot, swap, ephemeral or no_device.');
}

/**
 * Converts disks in the legacy format to `DeviceDraft` objects. If the request has an image, the root disk is created
 * from the image. Otherwise, the root disk is the volume with the root device's name, or else the first volume.
 */
export function parseLegacyDevices(
  legacyDevices: readonly LegacyDevice[],
  imageId: string | undefined,
  rootDevice: string,
): readonly (DeviceDraft | DeviceRemoval)[] {
  const drafts = legacyDevices.map(parseLegacyDevice);
  if (imageId) {
    const hasRootConflict = drafts.some(
      (draft) => !('removedDevice' in draft) && draft.destination === 'volume' && draft.device === rootDevice,
    );
    if (hasRootConflict) throw invalidMappingError(`${rootDevice} is the root device, which contains the image.`);
    return [...drafts, createImageRoot(imageId)];
  }
  const volumes = drafts.filter((draft) => !('removedDevice' in draft) && draft.destination === 'volume');
  const root = volumes.find((draft) => !('removedDevice' in draft) && draft.device === rootDevice) ?? volumes[0];
  return drafts.map((draft) => (draft === root ? { ...draft, bootIndex: 0 } : draft));
}

/** Returns the root disk among the given disks. Throws 400 if the disks conflict with each other or with the flavor. */
export function rootOf(drafts: readonly DeviceDraft[], flavor: Flavor): DeviceDraft {
  const bootIndexes = drafts.flatMap(({ bootIndex }) => bootIndex ?? []).sort((a, b) => a - b);
  const root = drafts.find(({ bootIndex }) => bootIndex === 0);
  if (!root || bootIndexes.some((bootIndex, position) => bootIndex !== position)) {
    throw invalidMappingError(
      'Boot sequence for the instance and image/block device mapping combination is not valid.',
    );
  }
  const swapDrafts = drafts.filter(isSwap);
  if (swapDrafts.length > 1) throw invalidMappingError('there can be at most one swap device.');
  if (swapDrafts.some(({ size }) => (size ?? 0) > flavor.swapMb)) {
    throw invalidMappingError('the swap device is larger than the flavor allows.');
  }
  const totalEphemeralGb = drafts.filter(isEphemeral).reduce((sum, { size }) => sum + (size ?? flavor.ephemeralGb), 0);
  if (totalEphemeralGb > flavor.ephemeralGb)
    throw invalidMappingError('the ephemeral devices are larger than the flavor allows.');
  if (drafts.filter(({ destination }) => destination === 'local').length > MAX_LOCAL_DEVICES) {
    throw invalidMappingError(`there can be at most ${MAX_LOCAL_DEVICES} local devices.`);
  }
  const paths = drafts.flatMap(({ device }) => device ?? []);
  if (new Set(paths).size < paths.length) throw invalidMappingError('two devices have the same device_name.');
  return root;
}
