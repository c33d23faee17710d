import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { accepted, post } from '../service/route.js';
import { badRequest } from '../service/service-error.js';
import { formatMicros } from '../service/times.js';
import { onlyFields } from '../service/view.js';
import { text } from '../service/wire-types.js';
import { createActionRoute, defineAction, statusSchema } from './action-route.js';
import { backupRecordRoutes } from './backup-records.js';
import { checkQuota } from './quota-check.js';
import { isListed, links, RESOURCE_FILTERS } from './volume-style.js';
import { createVolume } from './volumes.js';
import { boolean, metadata, object, optionalText, uuid } from './wire-types.js';

const Restore = object({ restore: object({ volume_id: uuid.nullish(), name: text.nullish() }) });

const summaryView = onlyFields('id', 'name', 'links');

/** Returns whether a backup has incremental backups that depend on it. */
const hasDependents = ({ cloud }: Call, id: string) =>
  [...cloud.documents.table<Doc>('volume/backups').values()].some(({ parent_id }) => parent_id === id);

/** The resource for volume backups, which are `available` immediately. A restore creates a volume of the same size. */
export const backups: ResourceSpec = {
  path: 'backups',
  one: 'backup',
  many: 'backups',
  filters: [...RESOURCE_FILTERS.backup, 'project_id', 'id', 'created_at', 'snapshot_id', 'size'],
  fields: () => ({
    id: derived(),
    volume_id: required(fixed(uuid)),
    name: settable(optionalText, null),
    description: settable(optionalText, null),
    container: fixed(text.nullable(), null),
    incremental: fixed(boolean, undefined, { hidden: true }),
    force: fixed(boolean, undefined, { hidden: true }),
    snapshot_id: fixed(uuid.nullable(), null),
    metadata: settable(metadata.nullable(), () => ({}), { since: 43 }),
    availability_zone: fixed(text.nullable(), 'nova', { setsSince: 51 }),
    status: derived('available'),
    size: derived(),
    object_count: derived(1),
    fail_reason: derived(null),
    is_incremental: derived(false),
    has_dependent_backups: derived(),
    data_timestamp: derived(),
    created_at: derived(),
    updated_at: derived(),
    user_id: derived(undefined, { admin: 'read', since: 56 }),
    'os-backup-project-attr:project_id': derived(undefined, { admin: 'read', since: 18 }),
    project_id: derived(undefined, { hidden: true }),
  }),
  views: { list: summaryView, create: summaryView, change: summaryView },
  lists: (call, backup) => isListed(call, backup.project_id),
  requireSource: ({ cloud, caller }, { volume_id }) => cloud.catalogs.volumes.getVolume(caller, String(volume_id)),
  async creating(call, backup) {
    const { volumes } = call.cloud.catalogs;
    const volume = await volumes.getVolume(call.caller, String(backup.volume_id));
    const snapshot = backup.snapshot_id
      ? await volumes.getSnapshot(call.caller, String(backup.snapshot_id))
      : undefined;
    if (snapshot) {
      if (snapshot.volumeId !== volume.id)
        throw badRequest(
          `Invalid volume: Volume ${volume.id} does not match with snapshot.volume_id ${snapshot.volumeId}.`,
        );
      if (snapshot.status !== 'available')
        throw badRequest(
          `Invalid snapshot: Snapshot to be backed up must be available, but the current status is "${snapshot.status}".`,
        );
    } else if (volume.status !== 'available' && volume.status !== 'in-use')
      throw badRequest(
        `Invalid volume: Volume to be backed up must be available or in-use, but the current status is "${volume.status}".`,
      );
    else if (volume.status === 'in-use' && backup.force !== true)
      throw badRequest('Invalid volume: Backing up an in-use volume must use the force flag.');
    // As in Cinder, an administrator's backup of another project's volume does not depend on that project's backups.
    const ownBackups = [...call.cloud.documents.table<Doc>('volume/backups').values()].filter(
      ({ volume_id, project_id }) => volume_id === volume.id && project_id === call.caller.projectId,
    );
    const parent = backup.incremental === true ? ownBackups.at(-1) : undefined;
    if (backup.incremental === true && !parent)
      throw badRequest('Invalid backup: No backups available to do an incremental backup.');
    await checkQuota(call, { backups: 1, backup_gigabytes: volume.sizeGb });
    return {
      size: volume.sizeGb,
      volume_metadata: volume.metadata,
      is_incremental: parent !== undefined,
      parent_id: parent?.id ?? null,
      data_timestamp: snapshot ? formatMicros(snapshot.createdAt) : backup.created_at,
      user_id: call.caller.userId,
    };
  },
  removing(call, { id }) {
    if (hasDependents(call, id)) throw badRequest('Invalid backup: Incremental backups exist for this backup.');
  },
  shows: (call, backup) => ({
    parent_id: undefined,
    volume_metadata: undefined,
    has_dependent_backups: hasDependents(call, backup.id),
    links: links(call, `backups/${backup.id}`),
    'os-backup-project-attr:project_id': backup.project_id,
  }),
  routes: (resource) => [
    post('/v3/backups/:id/restore', async (call) => {
      const backup = await resource.find(call, call.param('id'), 'change', 'backup:restore');
      const { volumes } = call.cloud.catalogs;
      const requestedRestore = call.body(Restore).restore;
      if (backup.status !== 'available') throw badRequest('Invalid backup: Backup status must be available');
      const newVolume = {
        size: backup.size,
        name: requestedRestore.name ?? `restore_backup_${backup.id}`,
        description: 'auto-created_from_restore_from_backup',
      };
      const volumeId = requestedRestore.volume_id ?? (await createVolume(call, newVolume)).id;
      const volume = await volumes.getVolume(call.caller, volumeId);
      if (volume.status !== 'available') throw badRequest('Invalid volume: Volume to be restored to must be available');
      if (volume.sizeGb < Number(backup.size))
        throw badRequest(
          `Invalid volume: volume size ${volume.sizeGb} is too small to restore backup of size ${backup.size}.`,
        );
      // Restored volumes get the metadata of the backed-up volume.
      const metadata = backup.volume_metadata as Record<string, string> | undefined;
      const change = { metadata: { ...volume.metadata, ...metadata } };
      await volumes.updateVolume(call.caller, volume.id, change, volume.status);
      return accepted({ restore: { backup_id: backup.id, volume_id: volume.id, volume_name: volume.name } });
    }),
    ...backupRecordRoutes(resource),
    createActionRoute<Doc>('backups/:id', (call) => resource.find(call, call.param('id')), {
      'os-force_delete': { run: (call, backup) => resource.storage.remove(call, backup), role: 'admin' },
      'os-reset_status': defineAction(
        object({ status: statusSchema('Backup', 'available', 'error') }),
        async (call, backup, { status }) => void (await resource.apply(call, backup, { status })),
        { role: 'admin' },
      ),
    }),
  ],
};
