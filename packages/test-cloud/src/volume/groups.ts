import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { changeable, derived, fixed, required, settable } from '../service/field.js';
import type { Resource, ResourceSpec } from '../service/resource.js';
import { get } from '../service/route.js';
import { badRequest, conflict, notFound, ServiceError } from '../service/service-error.js';
import { noBody, onlyFields } from '../service/view.js';
import type { Wire } from '../service/wire.js';
import { text } from '../service/wire-types.js';
import { type Action, createActionRoute, defineAction, resetStatusAction } from './action-route.js';
import { findDocument } from './find-document.js';
import { createAllOrNone, setGroup, snapshotsIn, volumesIn } from './group-members.js';
import { groupSnapshots } from './group-snapshots.js';
import { checkQuota } from './quota-check.js';
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

/** Defines an action on a group's replication, which always fails because no pool in this cloud replicates volumes. */
const replicationAction = (name: string, arguments_: z.ZodType = z.object({})): Action<Doc> =>
  defineAction(
    arguments_,
    (_call, { id }) => {
      throw badRequest(`Invalid group type: Group ${id} is not a replication group type.`);
    },
    { since: 38, policy: `group:${name}` },
  );

/** Returns the fields of new volumes that copy the volumes in a group. */
async function fieldsFromGroup(call: Call, id: string): Promise<readonly Wire[]> {
  const members = await volumesIn(call, id);
  return members.map(({ id, sizeGb, volumeType }) => ({ source_volid: id, size: sizeGb, volume_type: volumeType }));
}

/** Returns the fields of new volumes that copy the volume snapshots in a group snapshot. */
function fieldsFromSnapshot(call: Call, id: string): Promise<readonly Wire[]> {
  const { volumes } = call.cloud.catalogs;
  return Promise.all(
    snapshotsIn(call, id).map(async (snapshot_id) => {
      const { sizeGb, volumeId } = await volumes.getSnapshot(call.caller, snapshot_id);
      const { volumeType } = await volumes.getVolume(call.caller, volumeId);
      return { snapshot_id, size: sizeGb, volume_type: volumeType };
    }),
  );
}

/** A request that copies a group or a group snapshot. */
interface CopyRequest {
  readonly source_group_id?: string;
  readonly group_snapshot_id?: string;
  readonly name?: string | null;
  readonly description?: string | null;
}

/** Returns the group that a request copies, or whose snapshot it copies. */
function findSourceGroup(call: Call, { source_group_id, group_snapshot_id }: CopyRequest): Doc {
  const snapshot = group_snapshot_id ? findDocument(call, 'group_snapshots', group_snapshot_id) : undefined;
  return findDocument(call, 'groups', snapshot?.group_id ?? source_group_id);
}

/** Creates a group with copies of the volumes in another group or in a group snapshot. */
async function copyGroup(call: Call, resource: Resource, source: Doc, requested: CopyRequest): Promise<Wire> {
  const { source_group_id = null, group_snapshot_id = null, name = null, description = null } = requested;
  const copies = group_snapshot_id
    ? await fieldsFromSnapshot(call, group_snapshot_id)
    : await fieldsFromGroup(call, source.id);
  if (copies.length === 0)
    throw badRequest(
      `Invalid Group: ${group_snapshot_id ? 'Group snapshot' : 'Source Group'} is empty. No group will be created.`,
    );
  const { group_type, volume_types, availability_zone } = source;
  const { id } = await resource.createValidated(call, {
    name,
    description,
    group_type,
    volume_types,
    availability_zone,
    source_group_id,
    group_snapshot_id,
  });
  try {
    const volumeIds = await createAllOrNone(
      copies,
      (fields) => createVolume(call, { ...fields, availability_zone }),
      (volumeId) => call.cloud.catalogs.volumes.deleteVolume(call.caller, volumeId),
    );
    setGroup(call, volumeIds, String(id));
  } catch (error) {
    call.cloud.documents.table(resource.table).delete(String(id));
    // As in Cinder, the status is 400 here if a quota is exceeded.
    throw error instanceof ServiceError ? badRequest(error.message) : error;
  }
  return { group: { id, name } };
}

/** Throws a 400 error if a group cannot be deleted because of its status, volumes or snapshots. */
async function requireDeletable(call: Call, { id, status }: Doc, withVolumes: boolean): Promise<void> {
  const invalidGroup = (reason: string) => badRequest(`Invalid Group: ${reason}`);
  if (!withVolumes && status !== 'available' && status !== 'error')
    throw invalidGroup(`Group status must be available or error, but current status is: ${status}`);
  const { documents, catalogs } = call.cloud;
  if ([...documents.table<Doc>('volume/group_snapshots').values()].some(({ group_id }) => group_id === id))
    throw invalidGroup('Group has existing snapshots.');
  const volumes = await volumesIn(call, id);
  if (volumes.length > 0 && !withVolumes)
    throw invalidGroup(`Group ${id} still contains volumes. The delete-volumes flag is required to delete it.`);
  for (const { id: volumeId, status: volumeStatus } of volumes) {
    if (volumeStatus === 'in-use') throw invalidGroup(`Volume in group ${id} is attached. Need to detach first.`);
    const snapshots = await catalogs.volumes.listSnapshots(call.elevatedCaller, {
      volumeId,
      allProjects: true,
      limit: 1,
    });
    if (snapshots.length > 0) throw invalidGroup('Volume in group still has dependent snapshots.');
  }
}

const idAndNameView = onlyFields('id', 'name');

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
  views: { list: idAndNameView, create: idAndNameView, change: noBody },
  lists: (call, group) => isListed(call, group.project_id),
  async creating(call, { group_type, volume_types }) {
    const types = call.cloud.documents.table<Doc>('volume/group_types');
    const type = types.get(String(group_type)) ?? [...types.values()].find(({ name }) => name === group_type);
    if (!type) throw notFound(`Group type ${group_type} could not be found.`);
    for (const one of volume_types as readonly string[]) await call.cloud.catalogs.volumes.getType(call.caller, one);
    await checkQuota(call, { groups: 1 });
    return { group_type: type.id };
  },
  async changing(call, before, change) {
    requireFields()(call, before, change);
    const { add_volumes, remove_volumes } = change;
    const { id } = before;
    const parseIds = (written: unknown) =>
      String(written ?? '')
        .split(',')
        .filter(Boolean);
    for (const volume of parseIds(add_volumes)) await call.cloud.catalogs.volumes.getVolume(call.caller, volume);
    setGroup(call, parseIds(remove_volumes), null);
    setGroup(call, parseIds(add_volumes), id);
    return { add_volumes: undefined, remove_volumes: undefined };
  },
  shows: async (call, { id }) =>
    call.flag('list_volume') && isAtLeast(call, 25)
      ? { volumes: (await volumesIn(call, id)).map((volume) => volume.id) }
      : {},
  statuses: { change: 202 },
  routes: (resource) => [
    createActionRoute<Doc>('groups', (call, args) => findSourceGroup(call, args as CopyRequest), {
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
        (call, source, requested) => copyGroup(call, resource, source, requested),
        { since: 14, policy: 'group:create' },
      ),
    }),
    createActionRoute<Doc>('groups/:id', (call) => resource.find(call, call.param('id')), {
      reset_status: resetStatusAction('Group', resource, 20, 'group:reset_status'),
      delete: defineAction(
        object({ 'delete-volumes': boolean.optional() }),
        async (call, group, args) => {
          await requireDeletable(call, group, args['delete-volumes'] === true);
          for (const { id } of await volumesIn(call, group.id))
            await call.cloud.catalogs.volumes.deleteVolume(call.caller, id);
          call.cloud.documents.table(resource.table).delete(group.id);
        },
        { policy: 'group:delete' },
      ),
      enable_replication: replicationAction('enable_replication'),
      disable_replication: replicationAction('disable_replication'),
      failover_replication: replicationAction(
        'failover_replication',
        object({ allow_attached_volume: boolean.optional(), secondary_backend_id: text.nullish() }),
      ),
      list_replication_targets: replicationAction('list_replication_targets'),
    }),
  ],
};

export const groupResources: readonly ResourceSpec[] = [groupTypes, groups, groupSnapshots];
