import { randomUUID } from 'node:crypto';
import { type EmbeddedOptions, embeddedContext } from '../../builtin/embedded-options.js';
import { rejectNul } from '../../builtin/json-conditions.js';
import { listPage } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { ImageCatalog } from '../../image/image-catalog.js';
import type { VolumeCatalog, VolumeQuery, VolumeStatus } from '../volume-catalog.js';
import type { VolumeStorage } from '../volume-storage.js';
import { createAttachmentOperations } from './attachments.js';
import { createVolumeCreator } from './new-volume.js';
import { createSnapshotOperations } from './snapshots.js';
import { listStoragePools } from './storage-pools.js';
import {
  applyListFilters,
  changeVolume,
  getVisibleVolume,
  newVolumeRecord,
  runInStorage,
  toVolumeView,
  toVolumeViews,
  type VolumeContext,
  type VolumeView,
  volumeNotFound,
  wrongStatus,
} from './volume-context.js';
import { seedVolumes, type VolumesSeed } from './volume-seed.js';
import { type VolumeRecord, volumeTables } from './volume-tables.js';
import { createVolumeTypeOperations, lockTypeByName } from './volume-types.js';

export interface EmbeddedVolumesOptions extends EmbeddedOptions {
  /** The image catalog. Without this option, volumes cannot be created from images. */
  readonly images?: Pick<ImageCatalog, 'get'>;
  /** Called after the commit when a volume that is attached to a server has been extended. */
  readonly onVolumeExtended?: (serverId: string, volumeId: string) => void;
  /** Returns the driver that stores volume data. Default: volumes are only records without data. */
  readonly storage?: () => VolumeStorage | undefined;
}

/** The changes to a volume's record that do not affect the volume's data. */
export type VolumeChange = Partial<
  Pick<
    VolumeRecord,
    | 'name'
    | 'description'
    | 'metadata'
    | 'bootable'
    | 'imageMetadata'
    | 'status'
    | 'migrationStatus'
    | 'volumeType'
    | 'multiattach'
  >
>;

const { attachments, snapshots, volumes } = volumeTables;

const DELETABLE_STATUSES = new Set<VolumeStatus>(['available', 'error', 'error_restoring', 'error_extending']);
/**
 * The age at which data without a volume or snapshot record counts as orphaned. The record of a new volume is created
 * only when its data is complete.
 */
const ORPHAN_AGE_MS = 3_600_000;
const REIMAGEABLE_STATUSES = new Set<VolumeStatus>(['available', 'error', 'reserved']);

/**
 * Creates a volume catalog in the engine's own database. In addition to {@link VolumeCatalog}, the catalog has the
 * operations that a volume service needs.
 */
export function embeddedVolumes(options: EmbeddedVolumesOptions) {
  const context: VolumeContext = {
    ...embeddedContext('embeddedVolumes', options, ['images', 'onVolumeExtended', 'storage']),
    images: options.images,
    onVolumeExtended: options.onVolumeExtended ?? (() => {}),
    storage: options.storage ?? (() => undefined),
  };
  const { store, clock } = context;
  const types = createVolumeTypeOperations(context);
  const snapshotOperations = createSnapshotOperations(context);

  const catalog = {
    ...types,
    ...snapshotOperations,
    ...createAttachmentOperations(context),
    createVolume: createVolumeCreator(context, { ...types, ...snapshotOperations }),

    async getVolume(caller: Caller, id: string): Promise<VolumeView> {
      return toVolumeView(context, await getVisibleVolume(context, caller, id));
    },

    async listVolumes(caller: Caller, query: VolumeQuery = {}): Promise<readonly VolumeView[]> {
      const page = await listPage(store, volumes, 'newest first', query, (q) =>
        applyListFilters(store, caller, query, q),
      );
      return toVolumeViews(context, page);
    },

    /** @param expectedStatus rejects the change if the volume has another status */
    async updateVolume(
      caller: Caller,
      id: string,
      change: VolumeChange,
      expectedStatus?: VolumeStatus,
    ): Promise<VolumeView> {
      rejectNul(change);
      const definedFields = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      const { volumeType } = change;
      const changedVolume = await changeVolume(
        context,
        caller,
        id,
        (volume) => {
          if (expectedStatus !== undefined && volume.status !== expectedStatus)
            throw wrongStatus(volume, expectedStatus);
          return definedFields;
        },
        (tx) => (typeof volumeType === 'string' ? lockTypeByName(tx, volumeType) : Promise.resolve()),
      );
      return toVolumeView(context, changedVolume);
    },

    /** Moves an `awaiting-transfer` volume, and optionally its snapshots, to another project. */
    async transferVolume(
      id: string,
      to: { readonly projectId: string; readonly userId: string; readonly withSnapshots: boolean },
    ): Promise<void> {
      const { projectId, userId } = to;
      await store.transaction(async (tx) => {
        const volume = await volumes.lock(tx, id);
        if (!volume) throw volumeNotFound(id);
        if (volume.status !== 'awaiting-transfer') throw wrongStatus(volume, 'awaiting-transfer');
        const now = clock.now();
        await volumes.update(tx, { ...volume, projectId, userId, status: 'available', updatedAt: now });
        if (!to.withSnapshots) return;
        for (const snapshot of await snapshots.find(tx, (q) => q.where('volume_id', '=', id)))
          await snapshots.update(tx, { ...snapshot, projectId, userId, updatedAt: now });
      });
    },

    async deleteVolume(caller: Caller, id: string): Promise<void> {
      const volume = await volumes.get(store, id);
      if (!volume) return;
      if (!canAccessProject(caller, volume.projectId)) throw volumeNotFound(id);
      await store.transaction(async (tx) => {
        const currentVolume = await volumes.lock(tx, id);
        if (!currentVolume) return;
        // The volume may have been transferred to another project in the meantime.
        if (!canAccessProject(caller, currentVolume.projectId)) throw volumeNotFound(id);
        if (!DELETABLE_STATUSES.has(currentVolume.status))
          throw wrongStatus(currentVolume, 'available or error or error_restoring or error_extending');
        if ((await snapshots.count(tx, (q) => q.where('volume_id', '=', id))) > 0)
          throw new CatalogError('VOLUME_WRONG_STATUS', `Invalid volume: Volume ${id} still has snapshots.`);
        await tx.db.deleteFrom('volume_attachments').where('volume_id', '=', id).execute();
        await volumes.delete(tx, id);
      });
      await runInStorage(context, (storage) => storage.remove(id));
    },

    /** Extends a volume. `onVolumeExtended` is called for each server to which the volume is attached. */
    async extendVolume(caller: Caller, id: string, sizeGb: number): Promise<void> {
      const validateVolume = (volume: VolumeRecord) => {
        if (volume.status !== 'available' && volume.status !== 'in-use')
          throw wrongStatus(volume, 'available or in-use');
        if (!Number.isInteger(sizeGb) || sizeGb <= volume.sizeGb)
          throw new CatalogError(
            'VOLUME_INVALID',
            `Invalid input received: New size for extend must be greater than current size. (current: ${volume.sizeGb}, extended: ${sizeGb}).`,
          );
      };
      validateVolume(await getVisibleVolume(context, caller, id));
      await runInStorage(context, (storage) => storage.extend(id, sizeGb));
      await changeVolume(context, caller, id, async (volume, tx) => {
        validateVolume(volume);
        const attachmentRecords = await attachments.find(tx, (q) => q.where('volume_id', '=', id));
        for (const { serverId, status } of attachmentRecords)
          if (status === 'attached') tx.afterCommit(() => context.onVolumeExtended(serverId, id));
        return { sizeGb };
      });
    },

    async completeExtend(caller: Caller, id: string, failed: boolean): Promise<void> {
      await changeVolume(context, caller, id, async (volume, tx) => {
        if (volume.status !== 'extending') return {};
        const isAttached = (await attachments.count(tx, (q) => q.where('volume_id', '=', id))) > 0;
        const status: VolumeStatus = failed ? 'error_extending' : isAttached ? 'in-use' : 'available';
        return { status };
      });
    },

    async reimage(caller: Caller, id: string, imageId: string): Promise<void> {
      const image = await context.images?.get(caller, imageId);
      if (!image) throw new CatalogError('VOLUME_INVALID', 'Volumes cannot be reimaged without an image service.');
      const validateVolume = (volume: VolumeRecord) => {
        if (!REIMAGEABLE_STATUSES.has(volume.status)) throw wrongStatus(volume, 'available or error or reserved');
        const minSizeGb = image.minDiskGb;
        if (volume.sizeGb < minSizeGb)
          throw new CatalogError(
            'VOLUME_INVALID',
            `Image ${imageId} requires at least ${minSizeGb} GiB, but the volume has ${volume.sizeGb} GiB.`,
          );
      };
      let previousStatus: VolumeStatus = 'available';
      // No server may reserve a volume whose data is being overwritten.
      const { sizeGb } = await changeVolume(context, caller, id, (volume) => {
        validateVolume(volume);
        previousStatus = volume.status;
        return volume.status === 'reserved' ? {} : { status: 'downloading' };
      });
      const finish = (status: VolumeStatus, fields: Partial<VolumeRecord> = {}) =>
        changeVolume(context, caller, id, (volume) => ({
          ...fields,
          ...(volume.status === 'downloading' && { status }),
        }));
      try {
        await runInStorage(context, (storage) => storage.reimage(caller, id, imageId, sizeGb));
      } catch (error) {
        await finish(previousStatus);
        throw error;
      }
      const imageMetadata = { ...image.properties, image_id: image.id, image_name: image.name ?? '' };
      await finish('available', { bootable: true, imageMetadata });
    },

    /**
     * Starts a volume migration. The volume's migration status becomes `migrating`, and a new volume is created, to
     * which the data will be copied. Returns the new volume's id.
     */
    async beginMigration(caller: Caller, id: string): Promise<string> {
      const targetId = randomUUID();
      await changeVolume(context, caller, id, async (volume, tx) => {
        if (volume.status !== 'available' && volume.status !== 'in-use')
          throw wrongStatus(volume, 'available or in-use');
        const { projectId, userId, sizeGb, volumeType, multiattach, availabilityZone } = volume;
        const inheritedFields = { projectId, userId, sizeGb, volumeType, multiattach, availabilityZone };
        await volumes.insert(
          tx,
          newVolumeRecord({ ...inheritedFields, id: targetId, migrationStatus: `target:${id}` }, clock.now()),
        );
        return { migrationStatus: 'migrating' };
      });
      await context.storage()?.placement?.keepTogether(targetId, id);
      return targetId;
    },

    async completeMigration(caller: Caller, oldId: string, newId: string, failed: boolean): Promise<string> {
      await getVisibleVolume(context, caller, newId);
      if (!failed) await runInStorage(context, (storage) => storage.replace(oldId, newId));
      await changeVolume(context, caller, oldId, async (volume, tx) => {
        if (failed) return { migrationStatus: 'error' };
        const replacement = await volumes.lock(tx, newId);
        if (!replacement) return {};
        const oldAttachments = await attachments.find(tx, (q) => q.where('volume_id', '=', oldId));
        const newAttachments = await attachments.find(tx, (q) => q.where('volume_id', '=', newId));
        for (const attachment of newAttachments) await attachments.update(tx, { ...attachment, volumeId: oldId });
        const replacedServerIds = new Set(newAttachments.map((attachment) => attachment.serverId));
        for (const attachment of oldAttachments)
          if (replacedServerIds.has(attachment.serverId)) await attachments.delete(tx, attachment.id);
        await volumes.delete(tx, newId);
        const isAttached = newAttachments.length > 0 || oldAttachments.length > 0;
        return {
          migrationStatus: 'success',
          status: isAttached ? 'in-use' : 'available',
          volumeType: replacement.volumeType ?? volume.volumeType,
        };
      });
      if (failed) await catalog.deleteVolume(caller, newId).catch(() => {});
      return oldId;
    },

    /** Removes orphaned volume data, which remains after a crash during the creation or deletion of a volume. */
    async cleanUpStorage(): Promise<void> {
      const storedVolumes = (await context.storage()?.list()) ?? [];
      for (const { id, storedAt } of storedVolumes) {
        const record = (await volumes.get(store, id)) ?? (await snapshots.get(store, id));
        if (!record && storedAt < clock.now() - ORPHAN_AGE_MS)
          await runInStorage(context, (storage) => storage.remove(id));
      }
      await context.storage()?.placement?.cleanUp();
    },

    /** Returns a volume's data as a disk image; undefined if volumes are only records. */
    readVolume: (caller: Caller, id: string, format: string) =>
      runInStorage(context, (storage) => storage.read(caller, id, format)),

    /** Returns the storage of each host that stores volumes. The list is empty if volumes are only records. */
    storagePools: () => listStoragePools(context),

    seed: (seed: VolumesSeed): Promise<void> => seedVolumes(context, seed),
  };
  return catalog satisfies VolumeCatalog;
}

/** A volume catalog in the engine's database, with the operations that a volume service needs. */
export type EmbeddedVolumeCatalog = ReturnType<typeof embeddedVolumes>;
