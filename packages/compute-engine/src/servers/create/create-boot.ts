import { randomUUID } from 'node:crypto';
import { CatalogError, type Image, type Volume } from '@apistrata/catalogs';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest, forbidden } from '../../errors/rejection.js';
import type { BlockDevice, Flavor } from '../../model/index.js';
import { checkFlavorAndImage } from '../../resources/extra-specs/check-flavor-and-image.js';
import type { ImageFacts } from '../../resources/extra-specs/requested-options.js';
import { checkMemory, findActiveImage } from '../active-image.js';
import { deviceLetters } from '../volumes/device-names.js';
import {
  createImageRoot,
  type DeviceDraft,
  draftOf,
  invalidMappingError,
  isEphemeral,
  isSwap,
  parseLegacyDevices,
  rootOf,
} from './create-block-devices.js';
import { checkLocalDisk } from './create-image.js';
import { devicesOfImage } from './create-image-devices.js';
import type { NewServer } from './create-request.js';

/** The boot source and the disks of a new server. */
export interface BootPlan {
  /** Id of the requested image, even if the root disk has another source. Empty if no image was requested. */
  readonly imageId: string;
  readonly imageProperties: Readonly<Record<string, string>>;
  readonly rootDeviceName: string;
  readonly devices: readonly BlockDevice[];
}

/** The image from which the content of a boot source originates. */
interface BootContent extends ImageFacts {
  readonly minRamMb: number;
}

/** Keys in a volume's image metadata that are not image properties. */
const NON_PROPERTY_KEYS = new Set([
  'image_id',
  'image_name',
  'min_ram',
  'min_disk',
  'size',
  'checksum',
  'disk_format',
  'container_format',
  'signature_verified',
]);

/**
 * Selects the boot source of a server. Throws 400 for images, volumes and disks that do not exist or that conflict with
 * each other or with the flavor. Throws 403 for a local root disk if the flavor's disk size is 0, unless the caller may
 * create such servers.
 */
export async function planBoot(core: Core, context: Context, request: NewServer, flavor: Flavor): Promise<BootPlan> {
  const { devices = [], legacyDevices = [] } = request;
  if (devices.length > 0 && legacyDevices.length > 0) {
    throw badRequest('Using different block_device_mapping syntaxes is not allowed in the same request.');
  }
  const image = request.imageId ? await findActiveImage(core, context, request.imageId) : undefined;
  if (!image && devices.length === 0 && legacyDevices.length === 0) throw badRequest('Invalid imageRef provided.');
  const rootDevice = image?.properties.root_device_name ?? '/dev/vda';
  const drafts = draftsOf(request, image, rootDevice);
  const root = rootOf(drafts, flavor);
  const sources = await lookUpSources(core, context, drafts, request);
  const content = await bootContentOf(core, context, root, sources, image);
  checkMemory(flavor, content.minRamMb);
  checkFlavorAndImage(flavor, content);
  if (root.destination === 'local') {
    if (image) checkLocalDisk(flavor, image);
    if (flavor.diskGb === 0 && !(request.may?.zeroDiskFlavor ?? context.isAdmin)) {
      throw forbidden('Only volume-backed servers are allowed for flavors with zero disk.');
    }
  } else if (request.trustedCerts?.length) {
    throw badRequest('Image certificate validation is not supported when booting from volume');
  }
  const names = assignDeviceNames(drafts, rootDevice);
  const nameOf = (draft: DeviceDraft) => names.get(draft) ?? rootDevice;
  return {
    imageId: image?.id ?? '',
    imageProperties: content.properties,
    rootDeviceName: nameOf(root),
    devices: drafts.map((draft) => deviceOf(draft, nameOf(draft), sources.get(draft.sourceId ?? ''), flavor)),
  };
}

function draftsOf(request: NewServer, image: Image | undefined, rootDevice: string): readonly DeviceDraft[] {
  const { devices = [], legacyDevices = [] } = request;
  const parsedDevices =
    legacyDevices.length > 0
      ? parseLegacyDevices(legacyDevices, image?.id, rootDevice)
      : devices.map((device) => draftOf(device, image?.id));
  const imageDevices = image ? devicesOfImage(image) : [];
  const imageDefinesRoot = imageDevices.some(({ bootIndex }) => bootIndex === 0);
  const requestedDrafts = parsedDevices.filter((draft): draft is DeviceDraft => !('removedDevice' in draft));
  const usedNames = new Set(
    parsedDevices.flatMap((draft) => ('removedDevice' in draft ? draft.removedDevice : (draft.device ?? []))),
  );
  const remainingImageDevices = imageDevices.filter(
    ({ device, bootIndex }) => bootIndex === 0 || device === null || !usedNames.has(device),
  );
  const bootsFromImageOnly = image && devices.length === 0 && legacyDevices.length === 0;
  return [
    ...(bootsFromImageOnly && !imageDefinesRoot ? [createImageRoot(image.id)] : []),
    ...remainingImageDevices,
    ...(imageDefinesRoot ? requestedDrafts.filter((draft) => !isImageRoot(draft)) : requestedDrafts),
  ];
}

const isImageRoot = ({ source, bootIndex }: DeviceDraft) => source === 'image' && bootIndex === 0;

/** Volumes and snapshots by id, with their sizes. */
type DiskSources = ReadonlyMap<string, { readonly sizeGb: number; readonly volume?: Volume }>;

/**
 * Looks up the volumes and snapshots from which disks are created. Throws 400 if any of them is missing or unusable.
 */
async function lookUpSources(
  { catalogs, settings }: Core,
  { caller }: Context,
  drafts: readonly DeviceDraft[],
  request: NewServer,
): Promise<DiskSources> {
  const sources = new Map<string, { sizeGb: number; volume?: Volume }>();
  for (const draft of drafts) {
    const { bootIndex, size, volumeType } = draft;
    if (volumeType) await lookUp(catalogs.volumes.getType(caller, volumeType), `Volume type ${volumeType}`);
    if (draft.source === 'snapshot') {
      const { sourceId } = draft;
      const snapshot = await lookUp(catalogs.volumes.getSnapshot(caller, sourceId), `Snapshot ${sourceId}`);
      if (size !== null && size < snapshot.sizeGb)
        throw invalidMappingError('the volume is smaller than its snapshot.');
      sources.set(sourceId, { sizeGb: snapshot.sizeGb });
    }
    if (draft.source !== 'volume') continue;
    const { sourceId } = draft;
    if (sources.has(sourceId)) throw invalidMappingError(`volume ${sourceId} is listed twice.`);
    const volume = await lookUp(catalogs.volumes.getVolume(caller, sourceId), `Volume ${sourceId}`);
    checkVolume(volume, bootIndex === 0, request);
    if (!settings.crossZoneAttach && request.zone && volume.availabilityZone !== request.zone.split(':')[0]) {
      throw badRequest(`Volume ${volume.id} is not in the availability zone of the server.`);
    }
    sources.set(sourceId, { sizeGb: volume.sizeGb, volume });
  }
  return sources;
}

function checkVolume(volume: Volume, isRoot: boolean, request: NewServer): void {
  const isShared = volume.multiattach && volume.status === 'in-use';
  if (volume.multiattach && request.may?.multiattach === false) {
    throw badRequest('Multiattach volumes are only supported starting with compute API version 2.60.');
  }
  if (volume.status !== 'available' && !isShared) {
    throw badRequest(`Volume ${volume.id} is not available: its status is ${volume.status}.`);
  }
  // Nova checks this only if the request names no image.
  if (isRoot && !request.imageId && !volume.bootable) throw badRequest(`Block Device ${volume.id} is not bootable.`);
  if ((request.maxCount ?? request.minCount ?? 1) > 1) {
    throw badRequest('Cannot attach one or more volumes to multiple instances');
  }
}

async function lookUp<T>(item: Promise<T>, what: string): Promise<T> {
  try {
    return await item;
  } catch (error) {
    if (error instanceof CatalogError && error.kind !== 'unavailable') {
      throw badRequest(error.kind === 'not-found' ? `${what} could not be found.` : error.message);
    }
    throw error;
  }
}

/**
 * Returns the requested image, or otherwise the image from which the root disk's content originates. Throws 400 if a
 * new root volume is too small for either image.
 */
async function bootContentOf(
  core: Core,
  context: Context,
  root: DeviceDraft,
  sources: DiskSources,
  image: Image | undefined,
): Promise<BootContent> {
  const rootImage =
    root.source === 'image' && root.sourceId !== image?.id
      ? await findActiveImage(core, context, root.sourceId)
      : image;
  for (const required of [rootImage, image]) {
    if (root.destination === 'volume' && required && root.size !== null && root.size < required.minDiskGb) {
      throw badRequest(`A volume of ${root.size} GiB is too small: its image requires ${required.minDiskGb} GiB.`);
    }
  }
  const sourceImage = image ?? rootImage;
  if (sourceImage) return sourceImage;
  const { imageMetadata = {} } = sources.get(root.sourceId ?? '')?.volume ?? {};
  const properties = Object.fromEntries(Object.entries(imageMetadata).filter(([name]) => !NON_PROPERTY_KEYS.has(name)));
  const { image_id: id, image_name: name } = imageMetadata;
  return { id, name, properties, minRamMb: Number(imageMetadata.min_ram ?? 0) || 0 };
}

/** Device name prefixes by disk bus. Disks on other buses have the prefix of the root disk. */
const namePrefixes: Readonly<Record<string, string>> = {
  scsi: 'sd',
  sata: 'sd',
  usb: 'sd',
  ide: 'hd',
  fdc: 'fd',
  xen: 'xvd',
};

const rankOf = (draft: DeviceDraft) => (draft.bootIndex === 0 ? 0 : isEphemeral(draft) ? 1 : isSwap(draft) ? 2 : 3);

/**
 * Assigns a device name to every disk: the requested name, or otherwise the next free name. Names are assigned in the
 * order root, ephemeral, swap, others.
 */
function assignDeviceNames(drafts: readonly DeviceDraft[], rootDevice: string): Map<DeviceDraft, string> {
  const names = new Map(drafts.flatMap((draft) => (draft.device ? [[draft, draft.device] as const] : [])));
  const used = new Set(names.values());
  const defaultPrefix = /^\/dev\/(x?[a-z]d)[a-z]/.exec(rootDevice)?.[1] ?? 'vd';
  const nextDeviceName = ({ diskBus }: DeviceDraft): string => {
    for (let position = 0; ; position++) {
      const device = `/dev/${namePrefixes[diskBus ?? ''] ?? defaultPrefix}${deviceLetters(position)}`;
      if (!used.has(device)) return device;
    }
  };
  for (const draft of [...drafts].sort((a, b) => rankOf(a) - rankOf(b))) {
    if (names.has(draft)) continue;
    const isDefaultRoot = draft.bootIndex === 0 && !draft.diskBus && !used.has(rootDevice);
    const device = isDefaultRoot ? rootDevice : nextDeviceName(draft);
    used.add(device);
    names.set(draft, device);
  }
  return names;
}

function deviceOf(
  draft: DeviceDraft,
  device: string,
  source: { readonly sizeGb: number } | undefined,
  flavor: Flavor,
): BlockDevice {
  const local = isEphemeral(draft) ? flavor.ephemeralGb : null;
  return {
    id: randomUUID(),
    device,
    source: draft.source,
    destination: draft.destination,
    bootIndex: draft.bootIndex,
    volumeId: draft.source === 'volume' ? draft.sourceId : null,
    sourceId: draft.source === 'volume' ? null : draft.sourceId,
    sizeGb:
      draft.source === 'volume'
        ? (source?.sizeGb ?? null)
        : isSwap(draft)
          ? null
          : (draft.size ?? source?.sizeGb ?? local),
    volumeType: draft.volumeType,
    deleteOnTermination: draft.deleteOnTermination,
    tag: draft.tag,
    diskBus: draft.diskBus,
    deviceType: draft.deviceType,
    guestFormat: draft.guestFormat,
    attachmentId: null,
    attachedAt: null,
  };
}
