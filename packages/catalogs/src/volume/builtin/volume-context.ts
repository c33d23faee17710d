import { type New, type RowQuery, retryOnUniqueViolation, type Session, type Tx } from '@apistrata/record-store';
import type { EmbeddedContext } from '../../builtin/embedded-options.js';
import { hasEntry, rejectNul } from '../../builtin/json-conditions.js';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject, isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { ImageCatalog } from '../../image/image-catalog.js';
import type { Volume } from '../volume-catalog.js';
import type { VolumeStorage } from '../volume-storage.js';
import { type VolumeRecord, volumeTables } from './volume-tables.js';

const { attachments, volumes } = volumeTables;

/** The options that the modules of the embedded volume catalog share. */
export interface VolumeContext extends EmbeddedContext {
  /** The image catalog that provides images for volumes. */
  readonly images: Pick<ImageCatalog, 'get'> | undefined;
  readonly onVolumeExtended: (serverId: string, volumeId: string) => void;
  /** Returns the driver that stores volume data; undefined if volumes are only records. */
  readonly storage: () => VolumeStorage | undefined;
}

/** Calls `work` with the storage driver, if one exists. Converts errors of the driver to `UNAVAILABLE`. */
export async function runInStorage<T>(
  { storage }: VolumeContext,
  work: (storage: VolumeStorage) => Promise<T>,
): Promise<T | undefined> {
  const volumeStorage = storage();
  return (
    volumeStorage &&
    work(volumeStorage).catch((error) => {
      if (error instanceof CatalogError) throw error;
      throw new CatalogError('UNAVAILABLE', `The storage of volumes failed: ${error.message}`, {
        cause: error,
      });
    })
  );
}

/** A volume as returned in responses, with its attachments. */
export interface VolumeView extends VolumeRecord, Volume {
  /** The host that stores the data; null if the process that serves the API stores it, or if there is no data. */
  readonly host: string | null;
}

/** The size, in GiB, of volumes and snapshots that are created for unknown ids. */
const ACCEPTED_SIZE_GB = 10;

export function newVolumeRecord(
  given: Pick<VolumeRecord, 'id' | 'projectId' | 'userId' | 'sizeGb'> & Partial<VolumeRecord>,
  now: number,
): New<VolumeRecord> {
  return {
    name: null,
    description: null,
    status: 'available',
    bootable: false,
    multiattach: false,
    encrypted: false,
    availabilityZone: 'nova',
    volumeType: null,
    snapshotId: null,
    sourceVolumeId: null,
    imageMetadata: {},
    metadata: {},
    migrationStatus: null,
    ...given,
    createdAt: now,
    updatedAt: now,
  };
}

export function volumeNotFound(id: string): CatalogError {
  return new CatalogError('VOLUME_NOT_FOUND', `Volume ${id} could not be found.`);
}

export function wrongStatus(volume: Pick<Volume, 'id' | 'status'>, requested: string): CatalogError {
  return new CatalogError(
    'VOLUME_WRONG_STATUS',
    `Invalid volume: Volume ${volume.id} status must be ${requested}, but it is ${volume.status}.`,
  );
}

/** Returns a volume that the caller may see. If the catalog accepts unknown ids, a missing volume is created. */
export async function getVisibleVolume(context: VolumeContext, caller: Caller, id: string): Promise<VolumeRecord> {
  const volume = await volumes.get(context.store, id);
  if (volume && canAccessProject(caller, volume.projectId)) return volume;
  if (volume || !context.acceptsUnknownIds) throw volumeNotFound(id);
  rejectNul(id);
  const { projectId, userId } = caller;
  const acceptedFields = { id, projectId, userId, name: id, sizeGb: ACCEPTED_SIZE_GB, bootable: true };
  return retryOnUniqueViolation(context.store, async (tx) => {
    return (await volumes.get(tx, id)) ?? volumes.insert(tx, newVolumeRecord(acceptedFields, context.clock.now()));
  });
}

/**
 * Locks a volume and merges the result of `changed` into the record.
 *
 * @param beforeLock acquires other locks before the lock on the volume
 */
export async function changeVolume(
  context: VolumeContext,
  caller: Caller,
  id: string,
  changed: (volume: VolumeRecord, tx: Tx) => Partial<VolumeRecord> | Promise<Partial<VolumeRecord>>,
  beforeLock?: (tx: Tx) => Promise<unknown>,
): Promise<VolumeRecord> {
  await getVisibleVolume(context, caller, id);
  return context.store.transaction(async (tx) => {
    await beforeLock?.(tx);
    const volume = await volumes.lock(tx, id);
    // The volume may have been transferred to another project in the meantime.
    if (!volume || !canAccessProject(caller, volume.projectId)) throw volumeNotFound(id);
    const change = await changed(volume, tx);
    return Object.keys(change).length === 0
      ? volume
      : volumes.update(tx, { ...volume, ...change, updatedAt: context.clock.now() });
  });
}

export async function toVolumeViews(context: VolumeContext, records: readonly VolumeRecord[]): Promise<VolumeView[]> {
  return records.length === 0 ? [] : records.map(await createViewMapper(context, records));
}

/** Adds the attachments and the host to a volume record. */
export async function toVolumeView(context: VolumeContext, record: VolumeRecord): Promise<VolumeView> {
  return (await createViewMapper(context, [record]))(record);
}

async function createViewMapper(
  { store, storage }: VolumeContext,
  records: readonly VolumeRecord[],
): Promise<(v: VolumeRecord) => VolumeView> {
  const ids = records.map((volume) => volume.id);
  const attachmentRecords = await attachments.find(store, (q) => q.where('volume_id', 'in', ids).orderBy('seq'));
  const hosts = await storage()?.placement?.hostsOf(ids);
  return (volume) => ({
    ...volume,
    host: hosts?.get(volume.id) ?? null,
    attachments: attachmentRecords.filter((attachment) => attachment.volumeId === volume.id),
  });
}

/** Adds to a query the filters that volume lists and snapshot lists have in common. */
export function applyListFilters(
  session: Session,
  caller: Caller,
  query: {
    readonly allProjects?: boolean;
    readonly projectId?: string;
    readonly name?: string;
    readonly status?: string;
    readonly metadata?: Readonly<Record<string, string>>;
  },
  rows: RowQuery,
): RowQuery {
  let narrowed = rows;
  if (!(query.allProjects && isAdmin(caller))) narrowed = narrowed.where('project_id', '=', caller.projectId);
  else if (query.projectId !== undefined) narrowed = narrowed.where('project_id', '=', query.projectId);
  if (query.name !== undefined) narrowed = narrowed.where('name', '=', query.name);
  if (query.status !== undefined) narrowed = narrowed.where('status', '=', query.status);
  for (const [key, value] of Object.entries(query.metadata ?? {}))
    narrowed = narrowed.where(hasEntry(session, 'metadata', key, value));
  return narrowed;
}
