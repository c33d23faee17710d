import { randomUUID } from 'node:crypto';
import type { SnapshotStatus } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { accepted, post } from '../service/route.js';
import { unsupportedAction } from '../service/service-error.js';
import { without } from '../service/view.js';
import { flag, stringMap, text } from '../service/wire-types.js';
import { actionOf } from './action-of.js';
import { manageSnapshotRoutes, release } from './manage-routes.js';
import { metadataRoutes } from './metadata-routes.js';
import { checkQuota } from './quota-check.js';
import { isListed } from './volume-style.js';
import { snapshotView } from './volume-views.js';

/** The actions with which administrators, and hosts that create snapshots, change the status. */
const ACTIONS: Readonly<Record<string, z.ZodType<{ status: string; progress?: string }>>> = {
  'os-reset_status': z.object({ status: z.string() }),
  'os-update_snapshot_status': z.object({ status: z.string(), progress: z.string().optional() }),
};

/** Fields that are returned only by show and detailed-list requests. */
const EXTENDED = ['os-extended-snapshot-attributes:progress', 'os-extended-snapshot-attributes:project_id'];
/** Fields that the short list does not contain. */
const DETAILS = ['user_id', 'group_snapshot_id', 'consumes_quota'];

/** Snapshots of volumes. */
export const snapshots: ResourceSpec = {
  path: 'snapshots',
  one: 'snapshot',
  many: 'snapshots',
  filters: [
    'name',
    'status',
    'volume_id',
    'metadata',
    'availability_zone',
    'consumes_quota',
    'project_id',
    'id',
    'user_id',
    'created_at',
    'updated_at',
  ],
  fields: () => ({
    id: derived(),
    // Null is accepted as an id that no volume has, as in the original.
    volume_id: required(fixed(text.nullable())),
    name: settable(text.nullable(), null),
    display_name: settable(text.nullable(), undefined, { hidden: true }),
    description: settable(text.nullable(), null),
    display_description: settable(text.nullable(), undefined, { hidden: true }),
    force: fixed(z.union([flag, z.null()]), undefined, { hidden: true }),
    metadata: settable(stringMap.nullable()),
    project_id: derived(undefined, { hidden: true }),
    user_id: derived(undefined, { since: 41 }),
    group_snapshot_id: derived(null, { since: 14 }),
    consumes_quota: derived(true, { since: 65 }),
    status: derived(),
    size: derived(),
    created_at: derived(),
    updated_at: derived(),
  }),
  views: { list: without(...DETAILS, ...EXTENDED), create: without(...EXTENDED), change: without(...EXTENDED) },
  lists: (call, snapshot) => isListed(call, snapshot.project_id),
  shows: () => ({ group_snapshot_id: null, consumes_quota: true }),
  routes: (resource) => {
    return [
      ...metadataRoutes(resource),
      ...manageSnapshotRoutes(resource),
      post('/v3/snapshots/:id/action', async (call) => {
        const { name, body } = actionOf(call);
        const { volumes } = call.cloud.catalogs;
        const snapshot = await resource.find(call, call.param('id'), 'change');
        // Callers that can change volumes of a project may report the status of their snapshots. All other actions are
        // restricted to administrators.
        if (name !== 'os-update_snapshot_status') call.requireAdmin();
        if (name === 'os-force_delete' || name === 'os-unmanage') {
          await volumes.deleteSnapshot(call.caller, snapshot.id);
          if (name === 'os-unmanage')
            release(call, 'snapshot', snapshot.id, {
              size: Number(snapshot.size),
              volumeId: String(snapshot.volume_id),
            });
          return accepted();
        }
        const schema = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
        if (!schema) throw unsupportedAction(name);
        const { status, progress } = body(schema);
        await volumes.updateSnapshotStatus(call.caller, snapshot.id, status as SnapshotStatus, progress);
        return accepted();
      }),
    ];
  },
  storage: {
    list: async ({ cloud, caller, isAdmin }) =>
      (await cloud.catalogs.volumes.listSnapshots(caller, { allProjects: isAdmin })).map(docOf).reverse(),
    get: async ({ cloud, caller }, id) => docOf(await cloud.catalogs.volumes.getSnapshot(caller, id)),
    create: async (call, values) => {
      const { cloud, caller } = call;
      const volume = await cloud.catalogs.volumes.getVolume(caller, String(values.volume_id));
      await checkQuota(call, { snapshots: 1, gigabytes: volume.sizeGb }, volume.volumeType);
      const created = await cloud.catalogs.volumes.createSnapshot(caller, {
        key: randomUUID(),
        volumeId: volume.id,
        name: (values.name ?? values.display_name) as string | null,
        description: (values.description ?? values.display_description) as string | null,
        force: values.force === true,
        metadata: (values.metadata as Record<string, string> | null) ?? undefined,
      });
      return { ...docOf(created), status: 'creating' };
    },
    update: async ({ cloud, caller }, { id }, change) => {
      const {
        metadata,
        name = change.display_name,
        description = change.display_description,
      } = change as Record<string, any>;
      return docOf(await cloud.catalogs.volumes.updateSnapshot(caller, id, { name, description, metadata }));
    },
    remove: ({ cloud, caller }, { id }) => cloud.catalogs.volumes.deleteSnapshot(caller, id),
  },
};

function docOf(snapshot: Parameters<typeof snapshotView>[0]): Doc {
  return { ...snapshotView(snapshot), project_id: snapshot.projectId };
}
