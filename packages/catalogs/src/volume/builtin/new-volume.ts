import { retryOnUniqueViolation } from '@apistrata/record-store';
import { rejectNul } from '../../builtin/json-conditions.js';
import type { Caller } from '../../caller/caller.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { NewVolume, VolumeSnapshot } from '../volume-catalog.js';
import type { VolumeOrigin } from '../volume-storage.js';
import {
  getVisibleVolume,
  newVolumeRecord,
  runInStorage,
  toVolumeView,
  type VolumeContext,
  type VolumeView,
} from './volume-context.js';
import { type VolumeRecord, type VolumeTypeRecord, volumeTables } from './volume-tables.js';
import { allowsMultiattach, typeNotFound } from './volume-types.js';

const { types, volumes } = volumeTables;

function invalidRequest(message: string): CatalogError {
  return new CatalogError('VOLUME_INVALID', message);
}

/** The fields that a new volume inherits from its source image, snapshot or volume. */
type InheritedFields = Partial<VolumeRecord> & { readonly minSizeGb: number };

function getVolumeOrigin({ imageId, snapshotId, sourceVolumeId }: NewVolume): VolumeOrigin {
  if (imageId) return { kind: 'image', imageId };
  const id = snapshotId || sourceVolumeId;
  return id ? { kind: 'copy', id } : { kind: 'blank' };
}

/**
 * Returns the `createVolume` function, which creates a blank volume, or a volume from an image, a snapshot or another
 * volume. The volume's data is complete when the function's promise resolves.
 */
export function createVolumeCreator(
  context: VolumeContext,
  operations: {
    readonly getSnapshot: (caller: Caller, id: string) => Promise<VolumeSnapshot>;
    readonly getType: (caller: Caller, nameOrId: string) => Promise<VolumeTypeRecord>;
    readonly defaultType: () => Promise<VolumeTypeRecord | null>;
  },
) {
  async function inheritFromImage(caller: Caller, imageId: string): Promise<InheritedFields> {
    if (!context.images) throw invalidRequest('Volumes cannot be created from images without an image service.');
    const image = await context.images.get(caller, imageId);
    if (image.status !== 'active') throw invalidRequest(`Invalid image: Image ${imageId} is not active.`);
    const imageMetadata = {
      ...image.properties,
      image_id: image.id,
      image_name: image.name ?? '',
      checksum: image.checksum ?? '',
      container_format: image.containerFormat ?? '',
      disk_format: image.diskFormat ?? '',
      min_disk: String(image.minDiskGb),
      min_ram: String(image.minRamMb),
      size: String(image.sizeBytes ?? 0),
    };
    const contentGb = Math.ceil((image.virtualSizeBytes ?? image.sizeBytes ?? 0) / 2 ** 30);
    return { minSizeGb: Math.max(1, image.minDiskGb, contentGb), bootable: true, imageMetadata };
  }

  async function inheritFromSnapshot(caller: Caller, snapshotId: string): Promise<InheritedFields> {
    const snapshot = await operations.getSnapshot(caller, snapshotId);
    if (snapshot.status !== 'available')
      throw new CatalogError('SNAPSHOT_WRONG_STATUS', `Snapshot ${snapshotId} is ${snapshot.status}, not available.`);
    const {
      bootable = false,
      imageMetadata = {},
      volumeType = null,
    } = (await volumes.get(context.store, snapshot.volumeId)) ?? {};
    return { minSizeGb: snapshot.sizeGb, sizeGb: snapshot.sizeGb, bootable, imageMetadata, volumeType };
  }

  async function inheritFromVolume(caller: Caller, id: string): Promise<InheritedFields> {
    const { sizeGb, bootable, imageMetadata, volumeType } = await getVisibleVolume(context, caller, id);
    return { minSizeGb: sizeGb, sizeGb, bootable, imageMetadata, volumeType };
  }

  function getInheritedFields(
    caller: Caller,
    { imageId, snapshotId, sourceVolumeId }: NewVolume,
  ): Promise<InheritedFields> {
    if ([imageId, snapshotId, sourceVolumeId].filter(Boolean).length > 1)
      throw invalidRequest('A volume can have only one source: an image, a snapshot or a volume.');
    if (imageId) return inheritFromImage(caller, imageId);
    if (snapshotId) return inheritFromSnapshot(caller, snapshotId);
    if (sourceVolumeId) return inheritFromVolume(caller, sourceVolumeId);
    return Promise.resolve({ minSizeGb: 1 });
  }

  return async function createVolume(
    caller: Caller,
    request: NewVolume & { readonly excludedHosts?: readonly string[] },
  ): Promise<VolumeView> {
    rejectNul(request);
    const { minSizeGb, ...inheritedFields } = await getInheritedFields(caller, request);
    const sizeGb = request.sizeGb ?? inheritedFields.sizeGb;
    if (sizeGb === undefined || !Number.isInteger(sizeGb) || sizeGb < minSizeGb)
      throw invalidRequest(
        `Invalid input received: Volume size '${sizeGb ?? ''}' must be an integer and at least ${minSizeGb} GiB.`,
      );
    const typeName = request.volumeType ?? inheritedFields.volumeType;
    const type = typeName ? await operations.getType(caller, typeName) : await operations.defaultType();
    const record = newVolumeRecord(
      {
        ...inheritedFields,
        id: request.key,
        projectId: caller.projectId,
        userId: caller.userId,
        sizeGb,
        name: request.name ?? null,
        description: request.description ?? null,
        availabilityZone: request.availabilityZone ?? 'nova',
        volumeType: type?.name ?? null,
        multiattach: type !== null && allowsMultiattach(type),
        snapshotId: request.snapshotId ?? null,
        sourceVolumeId: request.sourceVolumeId ?? null,
        metadata: request.metadata ?? {},
      },
      context.clock.now(),
    );
    // The data is stored before the record is created, so that a crash can leave orphaned data, but never a volume
    // without data.
    const { key: id, availabilityZone: zone = null, excludedHosts = [] } = request;
    let placed: Partial<VolumeRecord> = {};
    if (!(await volumes.get(context.store, id)))
      await runInStorage(context, async (storage) => {
        const data = { id, sizeGb, origin: getVolumeOrigin(request) };
        const requirements = { ...data, zone, extraSpecs: type?.extraSpecs ?? {}, excludedHosts };
        const pool = await storage.placement?.place(requirements);
        // As in Cinder, a volume for which no storage is found exists in the status `error`.
        if (pool === null) placed = { status: 'error' };
        else await storage.create(caller, data);
        if (pool) placed = { availabilityZone: pool.zone };
      });
    const volume = await retryOnUniqueViolation(context.store, async (tx) => {
      const existingVolume = await volumes.get(tx, request.key);
      if (existingVolume && existingVolume.projectId !== caller.projectId)
        throw new CatalogError('VOLUME_EXISTS', `Volume ${request.key} already exists.`);
      if (existingVolume || !type) return existingVolume ?? volumes.insert(tx, { ...record, ...placed });
      // The volume type may have been renamed or deleted while the data was stored.
      const currentType = await types.lock(tx, type.id);
      if (!currentType) throw typeNotFound(type.id);
      return volumes.insert(tx, { ...record, ...placed, volumeType: currentType.name });
    });
    return toVolumeView(context, volume);
  };
}
