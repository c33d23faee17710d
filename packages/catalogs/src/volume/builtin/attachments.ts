import { lookThenInsert, type Tx } from '@apistrata/record-store';
import { listPage, type Page } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { isAdmin, owns } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { Connector, VolumeStatus } from '../volume-catalog.js';
import { changeVolume, type VolumeContext, visibleVolume, volumeNotFound, wrongStatus } from './volume-context.js';
import { type AttachmentRecord, type VolumeRecord, volumeTables } from './volume-tables.js';

const { attachments, volumes } = volumeTables;

/** What a volume is while its attachments are so: the furthest one decides. */
function settledStatus(ties: readonly AttachmentRecord[]): VolumeStatus {
  const has = (status: AttachmentRecord['status']) => ties.some((tie) => tie.status === status);
  if (has('attached')) return 'in-use';
  if (has('attaching')) return 'attaching';
  return has('reserved') ? 'reserved' : 'available';
}

/** Statuses that only say how far attaching is; any other one is kept when an attachment ends. */
const ATTACHING = new Set<VolumeStatus>(['available', 'reserved', 'attaching', 'in-use', 'detaching']);

function attachmentNotFound(id: string): CatalogError {
  return new CatalogError(
    'ATTACHMENT_NOT_FOUND',
    `Volume attachment could not be found with filter: attachment_id = ${id}.`,
  );
}

/** The part of the embedded volume catalog that ties volumes to servers. */
export function volumeAttachments(context: VolumeContext) {
  const { store, clock } = context;

  function tiesOf(tx: Tx, volumeId: string): Promise<AttachmentRecord[]> {
    return attachments.find(tx, (q) => q.where('volume_id', '=', volumeId).orderBy('seq'));
  }

  async function visible(caller: Caller, id: string): Promise<AttachmentRecord> {
    const tie = await attachments.get(store, id);
    if (!tie || !owns(caller, tie.projectId)) throw attachmentNotFound(id);
    return tie;
  }

  /** Takes the next step of one attachment; the volume is locked, so steps of several never cross. */
  async function step(
    caller: Caller,
    id: string,
    change: (tie: AttachmentRecord) => Partial<AttachmentRecord>,
  ): Promise<AttachmentRecord> {
    const { volumeId } = await visible(caller, id);
    return store.transaction(async (tx) => {
      const volume = await volumes.lock(tx, volumeId);
      const tie = await attachments.get(tx, id);
      if (!volume || !tie) throw attachmentNotFound(id);
      const changed = await attachments.update(tx, { ...tie, ...change(tie) });
      await volumes.update(tx, {
        ...volume,
        status: settledStatus(await tiesOf(tx, volumeId)),
        updatedAt: clock.now(),
      });
      return changed;
    });
  }

  return {
    getAttachment: visible,

    listAttachments: (
      caller: Caller,
      query: { readonly volumeId?: string; readonly serverId?: string; readonly allProjects?: boolean } & Page = {},
    ): Promise<readonly AttachmentRecord[]> =>
      listPage(store, attachments, 'oldest first', query, (rows) => {
        let narrowed = rows;
        if (!(query.allProjects && isAdmin(caller))) narrowed = narrowed.where('project_id', '=', caller.projectId);
        if (query.volumeId !== undefined) narrowed = narrowed.where('volume_id', '=', query.volumeId);
        return query.serverId === undefined ? narrowed : narrowed.where('server_id', '=', query.serverId);
      }),

    async reserve(
      caller: Caller,
      { key, volumeId, serverId }: { readonly key: string; readonly volumeId: string; readonly serverId: string },
    ): Promise<AttachmentRecord> {
      await visibleVolume(context, caller, volumeId);
      return lookThenInsert(store, async (tx) => {
        const volume = await volumes.lock(tx, volumeId);
        if (!volume) throw volumeNotFound(volumeId);
        const ties = await tiesOf(tx, volumeId);
        const same = ties.find((tie) => tie.id === key || (tie.serverId === serverId && tie.status === 'reserved'));
        if (same) return same;
        // A server that moves has a second attachment of the same volume for a while.
        const onlyHere = ties.length > 0 && ties.every((tie) => tie.serverId === serverId);
        const shares = volume.multiattach && ['in-use', 'reserved', 'attaching'].includes(volume.status);
        const moves = onlyHere && volume.status === 'in-use';
        if (volume.status !== 'available' && !shares && !moves) throw wrongStatus(volume, 'available');
        const tie = await attachments.insert(tx, {
          id: key,
          projectId: volume.projectId,
          volumeId,
          serverId,
          status: 'reserved',
          host: null,
          device: null,
          attachedAt: null,
          detachedAt: null,
          mode: 'rw',
          connection: {},
        });
        const status = moves ? 'in-use' : 'reserved';
        await volumes.update(tx, { ...volume, status, updatedAt: clock.now() });
        return tie;
      });
    },

    connect: (caller: Caller, attachmentId: string, connector: Connector): Promise<AttachmentRecord> =>
      step(caller, attachmentId, (tie) => ({
        status: tie.status === 'attached' ? 'attached' : 'attaching',
        host: connector.host,
        device: connector.mountpoint ?? tie.device,
        connection: {
          driver_volume_type: 'local',
          data: { device_path: `/volumes/${tie.volumeId}`, access_mode: tie.mode, attachment_id: tie.id },
        },
      })),

    complete: async (caller: Caller, attachmentId: string): Promise<void> => {
      // As in the original, whoever completes is believed to have connected, with this service or without it.
      await step(caller, attachmentId, (tie) => ({ status: 'attached', attachedAt: tie.attachedAt ?? clock.now() }));
    },

    async deleteAttachment(caller: Caller, attachmentId: string): Promise<void> {
      const tie = await attachments.get(store, attachmentId);
      if (!tie) return;
      if (!owns(caller, tie.projectId)) throw attachmentNotFound(attachmentId);
      await store.transaction(async (tx) => {
        const volume = await volumes.lock(tx, tie.volumeId);
        if (!(await attachments.delete(tx, attachmentId)) || !volume) return;
        const status = ATTACHING.has(volume.status) ? settledStatus(await tiesOf(tx, volume.id)) : volume.status;
        await volumes.update(tx, { ...volume, status, updatedAt: clock.now() });
      });
    },

    async beginDetaching(caller: Caller, volumeId: string): Promise<void> {
      await changeVolume(context, caller, volumeId, (volume: VolumeRecord) => {
        if (volume.status !== 'in-use') throw wrongStatus(volume, 'in-use');
        return { status: 'detaching' };
      });
    },

    async rollbackDetaching(caller: Caller, volumeId: string): Promise<void> {
      await changeVolume(context, caller, volumeId, (volume: VolumeRecord) =>
        volume.status === 'detaching' ? { status: 'in-use' } : {},
      );
    },
  };
}
