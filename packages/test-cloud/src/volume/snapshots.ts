import { randomUUID } from 'node:crypto';
import type { SnapshotStatus } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { accepted, del, get, post, put, Reply } from '../service/route.js';
import { notFound, unservedAction } from '../service/service-error.js';
import { without } from '../service/view.js';
import { flag, text, words } from '../service/wire-types.js';
import { actionOf } from './action-of.js';
import { isListed } from './volume-style.js';
import { snapshotView } from './volume-views.js';

const Metadata = z.object({ metadata: words });

/** What administrators, and the hosts that make snapshots, say of their status. */
const ACTIONS: Readonly<Record<string, z.ZodType<{ status: string; progress?: string }>>> = {
  'os-reset_status': z.object({ status: z.string() }),
  'os-update_snapshot_status': z.object({ status: z.string(), progress: z.string().optional() }),
};

/** Shown by reads only, and by the short list not even then. */
const EXTENDED = ['os-extended-snapshot-attributes:progress', 'os-extended-snapshot-attributes:project_id'];
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
    volume_id: required(fixed(text)),
    name: settable(text.nullable(), null),
    display_name: settable(text.nullable(), undefined, { hidden: true }),
    description: settable(text.nullable(), null),
    display_description: settable(text.nullable(), undefined, { hidden: true }),
    force: fixed(z.union([flag, z.null()]), undefined, { hidden: true }),
    metadata: settable(words.nullable()),
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
    const path = '/v3/snapshots/:id/metadata';
    async function change(call: Call, changed: (before: Record<string, string>) => Record<string, string>) {
      const before = await resource.find(call, call.param('id'), 'change');
      const metadata = changed(before.metadata as Record<string, string>);
      await resource.apply(call, before, { metadata });
      return { metadata };
    }
    return [
      get(path, async (call) => ({ metadata: (await resource.find(call, call.param('id'))).metadata })),
      post(path, (call) => change(call, (before) => ({ ...before, ...call.body(Metadata).metadata }))),
      put(path, (call) => change(call, () => call.body(Metadata).metadata)),
      del(`${path}/:key`, async (call) => {
        await change(call, ({ [call.param('key')]: gone, ...rest }) => {
          if (gone === undefined) throw notFound(`Snapshot has no metadata with key ${call.param('key')}.`);
          return rest;
        });
        return new Reply(200);
      }),
      post('/v3/snapshots/:id/action', async (call) => {
        const { name, body } = actionOf(call);
        const { volumes } = call.cloud.catalogs;
        const snapshot = await resource.find(call, call.param('id'), 'change');
        call.requireAdmin();
        if (name === 'os-force_delete') {
          await volumes.deleteSnapshot(call.caller, snapshot.id);
          return accepted();
        }
        const schema = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
        if (!schema) throw unservedAction(name);
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
    create: async ({ cloud, caller }, given) => {
      const made = await cloud.catalogs.volumes.createSnapshot(caller, {
        key: randomUUID(),
        volumeId: String(given.volume_id),
        name: (given.name ?? given.display_name) as string | null,
        description: (given.description ?? given.display_description) as string | null,
        force: given.force === true,
        metadata: (given.metadata as Record<string, string> | null) ?? undefined,
      });
      return { ...docOf(made), status: 'creating' };
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
