import { retryOnUniqueViolation, type Tx } from '@apistrata/record-store';
import { listPage, type Page } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject, isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { Connector, VolumeStatus } from '../volume-catalog.js';
import { changeVolume, getVisibleVolume, type VolumeContext, volumeNotFound, wrongStatus } from './volume-context.js';
import { type AttachmentRecord, type VolumeRecord, volumeTables } from './volume-tables.js';

const { attachments, volumes } = volumeTables;

/** Returns a volume's status, which is determined by the attachment that is closest to completion. */
function deriveStatus(attachmentRecords: readonly AttachmentRecord[]): VolumeStatus {
  const hasStatus = (status: AttachmentRecord['status']) =>
    attachmentRecords.some((attachment) => attachment.status === status);
  if (hasStatus('attached')) return 'in-use';
  if (hasStatus('attaching')) return 'attaching';
  return hasStatus('reserved') ? 'reserved' : 'available';
}

/** The volume statuses that only reflect attachments. Deleting an attachment does not change any other status. */
const ATTACHMENT_STATUSES = new Set<VolumeStatus>(['available', 'reserved', 'attaching', 'in-use', 'detaching']);

function attachmentNotFound(id: string): CatalogError {
  return new CatalogError(
    'ATTACHMENT_NOT_FOUND',
    `Volume attachment could not be found with filter: attachment_id = ${id}.`,
  );
}

/** Creates the attachment operations of the embedded volume catalog. */
export function createAttachmentOperations(context: VolumeContext) {
  const { store, clock } = context;

  function attachmentsOfVolume(tx: Tx, volumeId: string): Promise<AttachmentRecord[]> {
    return attachments.find(tx, (q) => q.where('volume_id', '=', volumeId).orderBy('seq'));
  }

  async function getVisible(caller: Caller, id: string): Promise<AttachmentRecord> {
    const attachment = await attachments.get(store, id);
    if (!attachment || !canAccessProject(caller, attachment.projectId)) throw attachmentNotFound(id);
    return attachment;
  }

  /**
   * Calls `work` with an attachment and its volume, whose row is locked. Both are undefined if the attachment does not
   * exist; the volume is undefined if only the volume does not exist.
   */
  async function withLockedVolume<T>(
    id: string,
    work: (tx: Tx, attachment: AttachmentRecord | undefined, volume: VolumeRecord | undefined) => Promise<T>,
  ): Promise<T> {
    const attempt = await store.transaction(async (tx) => {
      const volumeId = (await attachments.get(tx, id))?.volumeId;
      const volume = volumeId === undefined ? undefined : await volumes.lock(tx, volumeId);
      const attachment = await attachments.get(tx, id);
      // A completed migration has moved the attachment to another volume, which must be locked.
      if (attachment && attachment.volumeId !== volumeId) return undefined;
      return { result: await work(tx, attachment, attachment && volume) };
    });
    return attempt ? attempt.result : withLockedVolume(id, work);
  }

  /** Changes an attachment and updates the volume's status. The lock on the volume serializes such changes. */
  async function changeAttachment(
    caller: Caller,
    id: string,
    change: (attachment: AttachmentRecord) => Partial<AttachmentRecord>,
  ): Promise<AttachmentRecord> {
    await getVisible(caller, id);
    return withLockedVolume(id, async (tx, attachment, volume) => {
      if (!volume || !attachment) throw attachmentNotFound(id);
      const changedAttachment = await attachments.update(tx, { ...attachment, ...change(attachment) });
      await volumes.update(tx, {
        ...volume,
        status: deriveStatus(await attachmentsOfVolume(tx, volume.id)),
        updatedAt: clock.now(),
      });
      return changedAttachment;
    });
  }

  return {
    getAttachment: getVisible,

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
      {
        key,
        volumeId,
        serverId,
        mode = 'rw',
      }: {
        readonly key: string;
        readonly volumeId: string;
        readonly serverId: string;
        readonly mode?: 'rw' | 'ro';
      },
    ): Promise<AttachmentRecord> {
      await getVisibleVolume(context, caller, volumeId);
      return retryOnUniqueViolation(store, async (tx) => {
        const volume = await volumes.lock(tx, volumeId);
        if (!volume) throw volumeNotFound(volumeId);
        const attachmentRecords = await attachmentsOfVolume(tx, volumeId);
        const existingAttachment = attachmentRecords.find(
          (attachment) =>
            attachment.id === key || (attachment.serverId === serverId && attachment.status === 'reserved'),
        );
        if (existingAttachment) return existingAttachment;
        // While a server moves to another host, the server has a second attachment to the same volume.
        const hasOnlyThisServer =
          attachmentRecords.length > 0 && attachmentRecords.every((attachment) => attachment.serverId === serverId);
        const canBeShared = volume.multiattach && ['in-use', 'reserved', 'attaching'].includes(volume.status);
        const isMoving = hasOnlyThisServer && volume.status === 'in-use';
        if (volume.status !== 'available' && !canBeShared && !isMoving) throw wrongStatus(volume, 'available');
        const attachment = await attachments.insert(tx, {
          id: key,
          projectId: volume.projectId,
          volumeId,
          serverId,
          status: 'reserved',
          host: null,
          device: null,
          attachedAt: null,
          detachedAt: null,
          mode,
          connection: {},
        });
        const status = isMoving ? 'in-use' : 'reserved';
        await volumes.update(tx, { ...volume, status, updatedAt: clock.now() });
        return attachment;
      });
    },

    connect: (caller: Caller, attachmentId: string, connector: Connector): Promise<AttachmentRecord> =>
      changeAttachment(caller, attachmentId, (attachment) => ({
        status: attachment.status === 'attached' ? 'attached' : 'attaching',
        host: connector.host,
        device: connector.mountpoint ?? attachment.device,
        connection: {
          driver_volume_type: 'local',
          data: {
            device_path: `/volumes/${attachment.volumeId}`,
            access_mode: attachment.mode,
            attachment_id: attachment.id,
          },
        },
      })),

    complete: async (caller: Caller, attachmentId: string): Promise<void> => {
      // As in Cinder, an attachment can be completed without a previous `connect()` call.
      await changeAttachment(caller, attachmentId, (attachment) => ({
        status: 'attached',
        attachedAt: attachment.attachedAt ?? clock.now(),
      }));
    },

    async deleteAttachment(caller: Caller, attachmentId: string): Promise<void> {
      const attachment = await attachments.get(store, attachmentId);
      if (!attachment) return;
      if (!canAccessProject(caller, attachment.projectId)) throw attachmentNotFound(attachmentId);
      await withLockedVolume(attachmentId, async (tx, _, volume) => {
        if (!(await attachments.delete(tx, attachmentId)) || !volume) return;
        const status = ATTACHMENT_STATUSES.has(volume.status)
          ? deriveStatus(await attachmentsOfVolume(tx, volume.id))
          : volume.status;
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
