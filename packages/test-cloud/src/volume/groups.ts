import type { VolumeView } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import { ifMissing } from '../service/if-missing.js';
import type { ResourceSpec } from '../service/resource.js';
import { accepted, get, post } from '../service/route.js';
import { badRequest, conflict, notFound, ServiceError, unsupportedAction } from '../service/service-error.js';
import { noBody, only } from '../service/view.js';
import type { Wire } from '../service/wire.js';
import { anyId, flag, stringMap, text } from '../service/wire-types.js';
import { actionOf } from './action-of.js';
import { specRoutes } from './spec-routes.js';
import { isListed, isOfVisibility, since } from './volume-style.js';
import { createVolume } from './volumes.js';

const hiddenStamps = {
  created_at: derived(undefined, { hidden: true }),
  updated_at: derived(undefined, { hidden: true }),
};
const has = ({ cloud }: Call, table: string, id: unknown) => cloud.documents.table(`volume/${table}`).has(String(id));

/** Types of volume groups. */
const groupTypes: ResourceSpec = {
  path: 'group_types',
  one: 'group_type',
  many: 'group_types',
  title: 'Group type',
  filters: ['name', 'description', 'is_public'],
  admin: ['create', 'change', 'remove'],
  lists: (call, { is_public }) => (call.isAdmin ? isOfVisibility(call, is_public) : is_public === true),
  fields: () => ({
    id: derived(),
    ...hiddenStamps,
    name: required(settable(z.string().min(1).max(255))),
    description: settable(text.nullable(), null),
    is_public: settable(flag, true),
    group_specs: fixed(stringMap, () => ({}), { admin: 'read' }),
  }),
  creating({ cloud }, { name }) {
    if ([...cloud.documents.table<Doc>('volume/group_types').values()].some((one) => one.name === name))
      throw conflict(`Group Type ${name} already exists.`);
    return undefined;
  },
  removing({ cloud }, { id }) {
    if ([...cloud.documents.table<Doc>('volume/groups').values()].some(({ group_type }) => group_type === id))
      throw badRequest('Target group type is still in use.');
  },
  routes: (resource) => [
    get('/v3/group_types/default', () => {
      throw notFound('Default group type can not be found.');
    }),
    ...specRoutes(resource, { field: 'group_specs', names: ['Group Type', 'specs'], created: 202, strict: false }),
  ],
};

const DELETE = z.object({ 'delete-volumes': flag.optional() });
const STATUS = z.object({ status: z.string() });
/** Returns the volumes of a group. Membership is stored in the documents. */
const volumesIn = (call: Call, group: string) =>
  [...call.cloud.documents.table<Wire>('volume/volumes')].flatMap(([id, { group_id }]) =>
    group_id === group ? [id] : [],
  );

function setGroup(call: Call, volumes: readonly string[], group_id: string | null): void {
  const table = call.cloud.documents.table<Wire>('volume/volumes');
  for (const id of volumes) table.set(id, { ...table.get(id), group_id });
}

/** Copies volumes into a group: all of them, or none if one cannot be created. */
async function copyVolumes(call: Call, sources: readonly VolumeView[], group: Doc): Promise<void> {
  const { availability_zone } = group;
  const copies: string[] = [];
  try {
    for (const { id, sizeGb, volumeType } of sources) {
      const fields = { source_volid: id, size: sizeGb, volume_type: volumeType, availability_zone };
      copies.push((await createVolume(call, fields)).id);
    }
  } catch (error) {
    for (const id of copies) await call.cloud.catalogs.volumes.deleteVolume(call.caller, id);
    throw error;
  }
  setGroup(call, copies, group.id);
}

const named = only('id', 'name');

/** Groups of volumes of one project. */
const groups: ResourceSpec = {
  path: 'groups',
  one: 'group',
  many: 'groups',
  filters: ['name', 'status', 'group_type', 'availability_zone', 'id', 'host'],
  verbs: ['list', 'show', 'create', 'change'],
  fields: () => ({
    id: derived(),
    name: settable(text.nullable(), null),
    description: settable(text.nullable(), null),
    group_type: required(fixed(anyId)),
    volume_types: required(fixed(z.array(anyId).min(1))),
    availability_zone: fixed(text.nullable(), 'nova'),
    add_volumes: settable(z.string().nullable(), undefined, { hidden: true }),
    remove_volumes: settable(z.string().nullable(), undefined, { hidden: true }),
    status: derived('available'),
    group_snapshot_id: derived(null, { since: 14 }),
    source_group_id: derived(null, { since: 14 }),
    replication_status: derived('disabled', { since: 38 }),
    created_at: derived(),
    updated_at: derived(undefined, { hidden: true }),
    project_id: derived(undefined, { admin: 'read', since: 58 }),
  }),
  views: { list: named, create: named, change: noBody },
  lists: (call, group) => isListed(call, group.project_id),
  async creating(call, { group_type, volume_types }) {
    if (!has(call, 'group_types', group_type)) throw notFound(`Group type ${group_type} could not be found.`);
    for (const type of volume_types as readonly string[]) await call.cloud.catalogs.volumes.getType(call.caller, type);
    return undefined;
  },
  async changing(call, { id }, { add_volumes, remove_volumes }) {
    const idsIn = (written: unknown) =>
      String(written ?? '')
        .split(',')
        .filter(Boolean);
    for (const volume of idsIn(add_volumes)) await call.cloud.catalogs.volumes.getVolume(call.caller, volume);
    setGroup(call, idsIn(remove_volumes), null);
    setGroup(call, idsIn(add_volumes), id);
    return { add_volumes: undefined, remove_volumes: undefined };
  },
  shows: (call, { id }) => (call.flag('list_volume') && since(call, 25) ? { volumes: volumesIn(call, id) } : {}),
  statuses: { change: 202 },
  routes: (resource) => [
    post('/v3/groups/action', async (call) => {
      const { name, body } = actionOf(call);
      if (name !== 'create-from-src') throw unsupportedAction(name);
      const requested = body(
        z.object({
          source_group_id: anyId.nullish(),
          group_snapshot_id: anyId.nullish(),
          name: text.nullish(),
          description: text.nullish(),
        }),
      );
      const snapshot =
        requested.group_snapshot_id &&
        call.cloud.documents.table<Doc>('volume/group_snapshots').get(requested.group_snapshot_id);
      const source = requested.source_group_id ?? (snapshot ? String(snapshot.group_id) : '');
      const { group_type, volume_types, availability_zone } = await resource.find(call, source);
      const { volumes } = call.cloud.catalogs;
      const found = volumesIn(call, source).map((id) => volumes.getVolume(call.caller, id).catch(ifMissing));
      const members = (await Promise.all(found)).filter((volume) => volume !== undefined);
      if (members.length === 0)
        throw badRequest(
          `Invalid Group: ${snapshot ? 'Group snapshot' : 'Source Group'} is empty. No group will be created.`,
        );
      const created = await resource.create(call, {
        name: requested.name ?? null,
        description: requested.description ?? null,
        group_type,
        volume_types,
        availability_zone,
      });
      const group = await resource.find(call, String(created.id));
      try {
        await copyVolumes(call, members, group);
      } catch (error) {
        call.cloud.documents.table(resource.table).delete(group.id);
        // As in the original, an exceeded quota has this status here.
        throw error instanceof ServiceError ? badRequest(error.message) : error;
      }
      return accepted({ group: { id: group.id, name: group.name } });
    }),
    post('/v3/groups/:id/action', async (call) => {
      const { name, body } = actionOf(call);
      const group = await resource.find(call, call.param('id'), 'change');
      if (name === 'reset_status') {
        call.requireAdmin();
        await resource.apply(call, group, { status: body(STATUS).status });
        return accepted();
      }
      if (name !== 'delete') throw unsupportedAction(name);
      const members = volumesIn(call, group.id);
      if (members.length > 0 && !body(DELETE)['delete-volumes'])
        throw badRequest(
          `Invalid Group: Group ${group.id} is not empty. The delete-volumes flag is required to delete it.`,
        );
      for (const id of members) await call.cloud.catalogs.volumes.deleteVolume(call.caller, id);
      call.cloud.documents.table(resource.table).delete(group.id);
      return accepted();
    }),
  ],
};

const snapshotSummary = only('id', 'name', 'group_type_id');

/** Snapshots of all volumes of a group. */
const groupSnapshots: ResourceSpec = {
  path: 'group_snapshots',
  one: 'group_snapshot',
  many: 'group_snapshots',
  title: 'Group snapshot',
  filters: ['name', 'status', 'group_id', 'id'],
  verbs: ['list', 'show', 'create', 'remove'],
  fields: () => ({
    id: derived(),
    group_id: required(fixed(anyId)),
    name: settable(text.nullable(), null),
    description: settable(text.nullable(), null),
    group_type_id: derived(),
    status: derived('available'),
    created_at: derived(),
    updated_at: derived(undefined, { hidden: true }),
    project_id: derived(undefined, { admin: 'read', since: 58 }),
  }),
  views: { list: snapshotSummary, create: snapshotSummary },
  lists: (call, snapshot) => isListed(call, snapshot.project_id),
  creating(call, { group_id }) {
    const group = call.cloud.documents.table<Doc>('volume/groups').get(String(group_id));
    if (!group) throw notFound(`Group ${group_id} could not be found.`);
    if (volumesIn(call, group.id).length === 0)
      throw badRequest(`Invalid Group: Group ${group.id} cannot have a snapshot: it is empty.`);
    return { group_type_id: group.group_type };
  },
  routes: (resource) => [
    post('/v3/group_snapshots/:id/action', async (call) => {
      const { name, body } = actionOf(call);
      if (name !== 'reset_status') throw unsupportedAction(name);
      call.requireAdmin();
      const before = await resource.find(call, call.param('id'), 'change');
      await resource.apply(call, before, { status: body(STATUS).status });
      return accepted();
    }),
  ],
};

export const groupResources: readonly ResourceSpec[] = [groupTypes, groups, groupSnapshots];
