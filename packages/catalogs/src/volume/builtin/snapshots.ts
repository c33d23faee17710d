import { retryOnUniqueViolation } from '@apistrata/record-store';
import { derivedUuid } from '../../builtin/derived-uuid.js';
import { rejectNul } from '../../builtin/json-conditions.js';
import { listPage } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { NewSnapshot, SnapshotQuery, SnapshotStatus, VolumeStatus } from '../volume-catalog.js';
import {
  applyListFilters,
  getVisibleVolume,
  runInStorage,
  type VolumeContext,
  volumeNotFound,
  wrongStatus,
} from './volume-context.js';
import { type SnapshotRecord, type VolumeRecord, volumeTables } from './volume-tables.js';

const { snapshots, volumes } = volumeTables;

function snapshotNotFound(id: string): CatalogError {
  return new CatalogError('SNAPSHOT_NOT_FOUND', `Snapshot ${id} could not be found.`);
}

/** The volume statuses in which `force` permits a snapshot. */
const FORCED_SNAPSHOT_STATUSES = new Set<VolumeStatus>(['available', 'in-use', 'reserved', 'attaching', 'detaching']);

/** Creates the snapshot operations of the embedded volume catalog. */
export function createSnapshotOperations(context: VolumeContext) {
  const { store, clock, acceptsUnknownIds } = context;

  /** Creates a snapshot for an unknown snapshot id, and a volume to which the snapshot belongs. */
  async function acceptSnapshot(caller: Caller, id: string): Promise<SnapshotRecord> {
    rejectNul(id);
    const volume = await getVisibleVolume(context, caller, derivedUuid(`volume-of-snapshot/${id}`));
    const { id: volumeId, projectId, userId, sizeGb } = volume;
    const record = { ...initialFields(clock.now()), id, volumeId, projectId, userId, sizeGb };
    return retryOnUniqueViolation(store, async (tx) => (await snapshots.get(tx, id)) ?? snapshots.insert(tx, record));
  }

  function initialFields(now: number) {
    return {
      name: null,
      description: null,
      status: 'available' as SnapshotStatus,
      progress: '100%',
      metadata: {},
      createdAt: now,
      updatedAt: now,
    };
  }

  async function getVisible(caller: Caller, id: string): Promise<SnapshotRecord> {
    const snapshot = await snapshots.get(store, id);
    if (!snapshot && acceptsUnknownIds) return acceptSnapshot(caller, id);
    if (!snapshot || !canAccessProject(caller, snapshot.projectId)) throw snapshotNotFound(id);
    return snapshot;
  }

  function changeSnapshot(id: string, fields: Partial<SnapshotRecord>): Promise<SnapshotRecord> {
    return store.transaction(async (tx) => {
      const snapshot = await snapshots.lock(tx, id);
      if (!snapshot) throw snapshotNotFound(id);
      return snapshots.update(tx, { ...snapshot, ...fields, updatedAt: clock.now() });
    });
  }

  return {
    getSnapshot: getVisible,

    listSnapshots: (caller: Caller, query: SnapshotQuery = {}): Promise<readonly SnapshotRecord[]> =>
      listPage(store, snapshots, 'newest first', query, (rows) => {
        const narrowed = applyListFilters(store, caller, query, rows);
        return query.volumeId === undefined ? narrowed : narrowed.where('volume_id', '=', query.volumeId);
      }),

    async createSnapshot(caller: Caller, request: NewSnapshot, onCaptured?: () => void): Promise<SnapshotRecord> {
      rejectNul(request);
      const checkStatus = (volume: VolumeRecord) => {
        const isAllowed = request.force ? FORCED_SNAPSHOT_STATUSES.has(volume.status) : volume.status === 'available';
        if (!isAllowed) throw wrongStatus(volume, 'available');
      };
      const sourceVolume = await getVisibleVolume(context, caller, request.volumeId);
      if (!(await snapshots.get(store, request.key))) {
        checkStatus(sourceVolume);
        const { sizeGb } = sourceVolume;
        const origin = { kind: 'copy', id: sourceVolume.id } as const;
        await runInStorage(context, (storage) =>
          storage.create(caller, { id: request.key, sizeGb, origin }, onCaptured),
        );
      }
      return retryOnUniqueViolation(store, async (tx) => {
        const existingSnapshot = await snapshots.get(tx, request.key);
        if (existingSnapshot) return existingSnapshot;
        const volume = await volumes.lock(tx, request.volumeId);
        if (!volume) throw volumeNotFound(request.volumeId);
        checkStatus(volume);
        return snapshots.insert(tx, {
          ...initialFields(clock.now()),
          id: request.key,
          volumeId: volume.id,
          projectId: volume.projectId,
          userId: caller.userId,
          sizeGb: volume.sizeGb,
          name: request.name ?? null,
          description: request.description ?? null,
          metadata: request.metadata ?? {},
        });
      });
    },

    async updateSnapshot(
      caller: Caller,
      id: string,
      fields: Partial<Pick<SnapshotRecord, 'name' | 'description' | 'metadata' | 'status'>>,
    ): Promise<SnapshotRecord> {
      rejectNul(fields);
      await getVisible(caller, id);
      return changeSnapshot(id, Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)));
    },

    async updateSnapshotStatus(caller: Caller, id: string, status: SnapshotStatus, progress?: string): Promise<void> {
      await getVisible(caller, id);
      await changeSnapshot(id, progress === undefined ? { status } : { status, progress });
    },

    async deleteSnapshot(caller: Caller, id: string): Promise<void> {
      const snapshot = await snapshots.get(store, id);
      if (!snapshot) return;
      if (!canAccessProject(caller, snapshot.projectId)) throw snapshotNotFound(id);
      await store.transaction((tx) => snapshots.delete(tx, id));
      await runInStorage(context, (storage) => storage.remove(id));
    },
  };
}
