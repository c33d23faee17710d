import { randomUUID } from 'node:crypto';
import type { SnapshotStatus } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { changeable, derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { badRequest } from '../service/service-error.js';
import { withoutFields } from '../service/view.js';
import type { Wire } from '../service/wire.js';
import { type Actions, createActionRoute, defineAction, statusSchema } from './action-route.js';
import { manageSnapshotRoutes, markUnmanaged } from './manage-routes.js';
import { metadataRoutes } from './metadata-routes.js';
import { checkQuota } from './quota-check.js';
import { isAtLeast, isListed, RESOURCE_FILTERS, requireFields } from './volume-style.js';
import { snapshotView } from './volume-views.js';
import { boolean, metadata, object, optionalText, uuid } from './wire-types.js';

const role = 'admin';

/** The statuses that a host can report for a snapshot, by the snapshot's current status. */
const REPORTABLE_STATUSES: Readonly<Record<string, readonly string[]>> = {
  creating: ['creating', 'available', 'error'],
  deleting: ['deleting', 'error_deleting'],
};

const setStatus = (call: Call, { id }: Doc, status: string, progress?: string) =>
  call.cloud.catalogs.volumes.updateSnapshotStatus(call.caller, id, status as SnapshotStatus, progress);

/** Deletes a snapshot. Throws a 400 error if it belongs to a group snapshot. */
async function remove(call: Call, { id }: Doc, requiredStatus = ''): Promise<void> {
  const { group_snapshot_id } = call.cloud.documents.table<Wire>('volume/snapshots').get(id) ?? {};
  if (group_snapshot_id) throw badRequest(`Invalid snapshot: Snapshot ${requiredStatus} must not be part of a group.`);
  await call.cloud.catalogs.volumes.deleteSnapshot(call.caller, id);
}

const DELETABLE_STATUS = 'status must be available or error and';

const ACTIONS: Actions<Doc> = {
  'os-update_snapshot_status': defineAction(
    object({
      status: z.string(),
      progress: z
        .string()
        .regex(/^(100|\d?\d)%$/, 'progress must be an integer percentage between 0 and 100')
        .optional(),
    }),
    async (call, snapshot, { status, progress }) => {
      const reported = REPORTABLE_STATUSES[String(snapshot.status)];
      if (!reported) throw badRequest(`Snapshot status ${snapshot.status} not allowed for update_snapshot_status`);
      if (!reported.includes(status))
        throw badRequest(`Provided snapshot status ${status} not allowed for snapshot with status ${snapshot.status}.`);
      await setStatus(call, snapshot, status, progress);
    },
    { policy: 'snapshot_extension:snapshot_actions:update_snapshot_status' },
  ),
  'os-reset_status': defineAction(
    object({
      status: statusSchema(
        'Snapshot',
        ...['error', 'available', 'creating', 'deleting', 'deleted', 'updating', 'error_deleting', 'unmanaging'],
        ...['backing-up', 'restoring'],
      ),
    }),
    async (call, snapshot, { status }) => void (await setStatus(call, snapshot, status)),
    { role },
  ),
  'os-force_delete': { run: (call, snapshot) => remove(call, snapshot), role },
  'os-unmanage': {
    async run(call, snapshot) {
      await remove(call, snapshot, DELETABLE_STATUS);
      markUnmanaged(call, 'snapshot', snapshot.id, {
        size: Number(snapshot.size),
        volumeId: String(snapshot.volume_id),
      });
    },
    role,
    policy: 'snapshot_extension:snapshot_unmanage',
  },
};

/** Creates a snapshot of a volume from validated fields. */
export async function createSnapshot(call: Call, values: Wire): Promise<Doc> {
  const { cloud, caller } = call;
  const volume = await cloud.catalogs.volumes.getVolume(caller, String(values.volume_id));
  const { sizeGb, volumeType } = volume;
  const id = randomUUID();
  await checkQuota(call, { snapshots: 1, gigabytes: sizeGb }, volumeType, { id, sizeGb, volumeId: volume.id });
  const created = await cloud.catalogs.volumes.createSnapshot(caller, {
    key: id,
    volumeId: volume.id,
    name: (values.name ?? values.display_name) as string | null,
    description: values.description as string | null,
    force: values.force === true || isAtLeast(call, 66),
    metadata: (values.metadata as Record<string, string> | null) ?? undefined,
  });
  return { ...docOf(created), status: 'creating' };
}

/** The snapshot fields that only show and detailed list responses contain. */
const EXTENDED_FIELDS = ['os-extended-snapshot-attributes:progress', 'os-extended-snapshot-attributes:project_id'];
/** The snapshot fields that the short list does not contain. */
const DETAIL_FIELDS = ['user_id', 'group_snapshot_id', 'consumes_quota'];

/** The resource for volume snapshots. */
export const snapshots: ResourceSpec = {
  path: 'snapshots',
  one: 'snapshot',
  many: 'snapshots',
  serializedBy: { create: 'none', change: 'resource' },
  filters: [...RESOURCE_FILTERS.snapshot, 'project_id', 'id', 'user_id', 'created_at', 'updated_at'],
  fields: () => ({
    id: derived(),
    // As in Cinder, the schema accepts null, although no volume has this id.
    volume_id: required(fixed(uuid.nullable())),
    name: settable(optionalText, null),
    display_name: settable(optionalText, undefined, { hidden: true }),
    description: settable(optionalText, null),
    display_description: changeable(optionalText, undefined, { hidden: true }),
    force: fixed(boolean, undefined, { hidden: true }),
    metadata: fixed(metadata.nullable()),
    project_id: derived(undefined, { hidden: true }),
    user_id: derived(undefined, { since: 41 }),
    group_snapshot_id: derived(null, { since: 14, inDocuments: true }),
    consumes_quota: derived(true, { since: 65 }),
    status: derived(),
    size: derived(),
    created_at: derived(),
    updated_at: derived(),
  }),
  views: {
    list: withoutFields(...DETAIL_FIELDS, ...EXTENDED_FIELDS),
    create: withoutFields(...EXTENDED_FIELDS),
    change: withoutFields(...EXTENDED_FIELDS),
  },
  lists: (call, snapshot) => isListed(call, snapshot.project_id),
  requireSource: ({ cloud, caller }, { volume_id }) => cloud.catalogs.volumes.getVolume(caller, String(volume_id)),
  creating(call, { force }) {
    if (force === false && isAtLeast(call, 66))
      throw badRequest(
        "Since microversion 3.66 the 'force' flag is invalid for this request.  For backward compatability, however, when the 'force' flag is passed with a value evaluating to True, it is silently ignored.",
      );
    return undefined;
  },
  changing: requireFields(),
  shows: () => ({ consumes_quota: true }),
  routes: (resource) => [
    ...metadataRoutes(resource),
    ...manageSnapshotRoutes(resource),
    createActionRoute('snapshots/:id', (call) => resource.find(call, call.param('id')), ACTIONS),
  ],
  storage: {
    list: async ({ cloud, caller, isAdmin }) =>
      (await cloud.catalogs.volumes.listSnapshots(caller, { allProjects: isAdmin })).map(docOf).reverse(),
    get: async ({ cloud, caller }, id) => docOf(await cloud.catalogs.volumes.getSnapshot(caller, id)),
    create: createSnapshot,
    update: async ({ cloud, caller }, { id }, change) => {
      const {
        metadata,
        name = change.display_name,
        description = change.display_description,
      } = change as Record<string, any>;
      return docOf(await cloud.catalogs.volumes.updateSnapshot(caller, id, { name, description, metadata }));
    },
    remove: (call, snapshot) => remove(call, snapshot, DELETABLE_STATUS),
  },
};

function docOf(snapshot: Parameters<typeof snapshotView>[0]): Doc {
  return { ...snapshotView(snapshot), project_id: snapshot.projectId };
}
