import type { VolumeView } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { changeable, derived, fixed, required, settable } from '../service/field.js';
import { ifMissing } from '../service/if-missing.js';
import type { Resource, ResourceSpec } from '../service/resource.js';
import { get } from '../service/route.js';
import { badRequest, conflict, notFound, ServiceError } from '../service/service-error.js';
import { noBody, onlyFields } from '../service/view.js';
import type { Wire } from '../service/wire.js';
import { text } from '../service/wire-types.js';
import { type Action, createActionRoute, defineAction, statusSchema } from './action-route.js';
import { specRoutes } from './spec-routes.js';
import { isAtLeast, isListed, isOfVisibility, requireFields, requireValues } from './volume-style.js';
import { createVolume } from './volumes.js';
import { boolean, metadata, object, optionalText, requiredName, uniqueList, uuid, zone } from './wire-types.js';

const hiddenTimestamps = {
  created_at: derived(undefined, { hidden: true }),
  updated_at: derived(undefined, { hidden: true }),
};

/** The resource for types of volume groups. */
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
    ...hiddenTimestamps,
    name: required(settable(requiredName)),
    description: settable(optionalText, null),
    is_public: settable(boolean, true),
    group_specs: fixed(metadata.nullable(), () => ({}), { admin: 'read' }),
  }),
  creating({ cloud }, { name }) {
    if ([...cloud.documents.table<Doc>('volume/group_types').values()].some((one) => one.name === name))
      throw conflict(`Group Type ${name} already exists.`);
    return undefined;
  },
  changing: requireValues('group type name, description'),
  removing({ cloud }, { id }) {
    if ([...cloud.documents.table<Doc>('volume/groups').values()].some(({ group_type }) => group_type === id))
      throw badRequest('Target group type is still in use.');
  },
  routes: (resource) => [
    get('/v3/group_types/default', () => {
      throw notFound('Default group type can not be found.');
    }),
    ...specRoutes(resource, { field: 'group_specs', names: ['Group Type', 'specs'], created: 202, admin: true }),
  ],
};

/** Resets the status of a group or a group snapshot. */
const resetAction = (what: string, resource: Resource, first: number): Action<Doc> =>
  defineAction(
    object({
      status: statusSchema(
        what,
        ...['error', 'available', 'creating', 'deleting', 'deleted', 'updating', 'error_deleting'],
      ),
    }),
    async (call, before, { status }) => void (await resource.apply(call, before, { status })),
    { admin: true, since: first },
  );

/** Defines an action on a group's replication, which always fails because no pool in this cloud replicates volumes. */
const replicationAction = (arguments_: z.ZodType = z.object({})): Action<Doc> =>
  defineAction(
    arguments_,
    (_call, { id }) => {
      throw badRequest(`Invalid group type: Group ${id} is not a replication group type.`);
    },
    { since: 38 },
  );

/** Returns the ids of the volumes in a group. The volumes' documents contain the group's id. */
const volumesIn = (call: Call, group: string) =>
  [...call.cloud.documents.table<Wire>('volume/volumes')].flatMap(([id, { group_id }]) =>
    group_id === group ? [id] : [],
  );

function setGroup(call: Call, volumes: readonly string[], group_id: string | null): void {
  const table = call.cloud.documents.table<Wire>('volume/volumes');
  for (const id of volumes) table.set(id, { ...table.get(id), group_id });
}

/** Copies volumes into a group. If one copy cannot be created, none is. */
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

/** A request that copies a group or a group snapshot. */
interface CopyRequest {
  readonly source_group_id?: string;
  readonly group_snapshot_id?: string;
  readonly name?: string | null;
  readonly description?: string | null;
}

/** Creates a group with copies of the volumes in another group or in a group snapshot. */
async function copyGroup(call: Call, resource: Resource, requested: CopyRequest): Promise<Wire> {
  const snapshot =
    !requested.source_group_id &&
    call.cloud.documents.table<Doc>('volume/group_snapshots').get(String(requested.group_snapshot_id));
  if (snapshot === undefined) throw notFound(`GroupSnapshot ${requested.group_snapshot_id} could not be found.`);
  const source = requested.source_group_id ?? (snapshot ? String(snapshot.group_id) : '');
  const { group_type, volume_types, availability_zone } = await resource.find(call, source);
  const { volumes } = call.cloud.catalogs;
  const pendingVolumes = volumesIn(call, source).map((id) => volumes.getVolume(call.caller, id).catch(ifMissing));
  const members = (await Promise.all(pendingVolumes)).filter((volume) => volume !== undefined);
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
    // As in Cinder, the status is 400 here if a quota is exceeded.
    throw error instanceof ServiceError ? badRequest(error.message) : error;
  }
  return { group: { id: group.id, name: group.name } };
}

const onlyIdAndName = onlyFields('id', 'name');

/** The resource for volume groups. All volumes in a group belong to one project. */
const groups: ResourceSpec = {
  path: 'groups',
  one: 'group',
  many: 'groups',
  filters: ['name', 'status', 'group_type', 'availability_zone', 'id', 'host'],
  verbs: ['list', 'show', 'create', 'change'],
  fields: () => ({
    id: derived(),
    name: settable(optionalText, null),
    description: settable(optionalText, null),
    group_type: required(fixed(text.trim().min(1))),
    volume_types: required(fixed(uniqueList(text).refine((types) => types.length > 0, 'is too short'))),
    availability_zone: fixed(zone, 'nova'),
    add_volumes: changeable(text.nullable(), undefined, { hidden: true }),
    remove_volumes: changeable(text.nullable(), undefined, { hidden: true }),
    status: derived('available'),
    group_snapshot_id: derived(null, { since: 14 }),
    source_group_id: derived(null, { since: 14 }),
    replication_status: derived('disabled', { since: 38 }),
    created_at: derived(),
    updated_at: derived(undefined, { hidden: true }),
    project_id: derived(undefined, { admin: 'read', since: 58 }),
  }),
  views: { list: onlyIdAndName, create: onlyIdAndName, change: noBody },
  lists: (call, group) => isListed(call, group.project_id),
  async creating(call, { group_type, volume_types }) {
    const types = call.cloud.documents.table<Doc>('volume/group_types');
    const type = types.get(String(group_type)) ?? [...types.values()].find(({ name }) => name === group_type);
    if (!type) throw notFound(`Group type ${group_type} could not be found.`);
    for (const one of volume_types as readonly string[]) await call.cloud.catalogs.volumes.getType(call.caller, one);
    return { group_type: type.id };
  },
  async changing(call, before, change) {
    requireFields()(call, before, change);
    const { add_volumes, remove_volumes } = change;
    const { id } = before;
    const idsIn = (written: unknown) =>
      String(written ?? '')
        .split(',')
        .filter(Boolean);
    for (const volume of idsIn(add_volumes)) await call.cloud.catalogs.volumes.getVolume(call.caller, volume);
    setGroup(call, idsIn(remove_volumes), null);
    setGroup(call, idsIn(add_volumes), id);
    return { add_volumes: undefined, remove_volumes: undefined };
  },
  shows: (call, { id }) => (call.flag('list_volume') && isAtLeast(call, 25) ? { volumes: volumesIn(call, id) } : {}),
  statuses: { change: 202 },
  routes: (resource) => [
    createActionRoute('groups', () => undefined, {
      'create-from-src': defineAction(
        object({
          source_group_id: uuid.optional(),
          group_snapshot_id: uuid.optional(),
          name: text.nullish(),
          description: text.nullish(),
        }).refine(
          ({ source_group_id, group_snapshot_id }) => Boolean(source_group_id) !== Boolean(group_snapshot_id),
          "'group_snapshot_id' is a required property",
        ),
        (call, _none, requested) => copyGroup(call, resource, requested),
        { since: 14 },
      ),
    }),
    createActionRoute<Doc>('groups/:id', (call) => resource.find(call, call.param('id'), 'change'), {
      reset_status: resetAction('Group', resource, 20),
      delete: defineAction(object({ 'delete-volumes': boolean.optional() }), async (call, group, args) => {
        const members = volumesIn(call, group.id);
        if (members.length > 0 && !args['delete-volumes'])
          throw badRequest(
            `Invalid Group: Group ${group.id} is not empty. The delete-volumes flag is required to delete it.`,
          );
        for (const id of members) await call.cloud.catalogs.volumes.deleteVolume(call.caller, id);
        call.cloud.documents.table(resource.table).delete(group.id);
      }),
      enable_replication: replicationAction(),
      disable_replication: replicationAction(),
      failover_replication: replicationAction(
        object({ allow_attached_volume: boolean.optional(), secondary_backend_id: text.nullish() }),
      ),
      list_replication_targets: replicationAction(),
    }),
  ],
};

const snapshotSummary = onlyFields('id', 'name', 'group_type_id');

/** The resource for group snapshots, which contain a snapshot of each volume in a group. */
const groupSnapshots: ResourceSpec = {
  path: 'group_snapshots',
  one: 'group_snapshot',
  many: 'group_snapshots',
  title: 'GroupSnapshot',
  filters: ['name', 'status', 'group_id', 'id'],
  verbs: ['list', 'show', 'create', 'remove'],
  fields: () => ({
    id: derived(),
    group_id: required(fixed(uuid)),
    name: settable(optionalText, null),
    description: settable(optionalText, null),
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
    createActionRoute<Doc>('group_snapshots/:id', (call) => resource.find(call, call.param('id'), 'change'), {
      reset_status: resetAction('Group snapshot', resource, 19),
    }),
  ],
};

export const groupResources: readonly ResourceSpec[] = [groupTypes, groups, groupSnapshots];
