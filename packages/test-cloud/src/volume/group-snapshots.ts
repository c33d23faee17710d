import { randomUUID } from 'node:crypto';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { badRequest } from '../service/service-error.js';
import { onlyFields } from '../service/view.js';
import type { Wire } from '../service/wire.js';
import { createActionRoute, resetStatusAction } from './action-route.js';
import { findDocument } from './find-document.js';
import { createAllOrNone, snapshotsIn, volumesIn } from './group-members.js';
import { createSnapshot } from './snapshots.js';
import { isListed } from './volume-style.js';
import { optionalText, uuid } from './wire-types.js';

const snapshotSummary = onlyFields('id', 'name', 'group_type_id');

/** The resource for group snapshots, which contain a snapshot of each volume in a group. */
export const groupSnapshots: ResourceSpec = {
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
  requireSource: (call, { group_id }) => findDocument(call, 'groups', group_id),
  async creating(call, { group_id, name, description }) {
    const group = findDocument(call, 'groups', group_id);
    const id = randomUUID();
    const created = await createAllOrNone(
      await volumesIn(call, group.id),
      ({ id: volume_id }) => createSnapshot(call, { volume_id, name, description, force: true }),
      (snapshotId) => call.cloud.catalogs.volumes.deleteSnapshot(call.caller, snapshotId),
    );
    const table = call.cloud.documents.table<Wire>('volume/snapshots');
    for (const snapshotId of created) table.set(snapshotId, { group_snapshot_id: id });
    return { id, group_type_id: group.group_type };
  },
  async removing(call, { id, status }) {
    if (status !== 'available' && status !== 'error')
      throw badRequest(
        'Invalid GroupSnapshot: GroupSnapshot status must be available or error, and no Group can be currently using it as source for its creation.',
      );
    for (const snapshotId of snapshotsIn(call, id)) {
      await call.cloud.catalogs.volumes.deleteSnapshot(call.caller, snapshotId);
      call.cloud.documents.table('volume/snapshots').delete(snapshotId);
    }
  },
  routes: (resource) => [
    createActionRoute<Doc>('group_snapshots/:id', (call) => resource.find(call, call.param('id')), {
      reset_status: resetStatusAction('Group snapshot', resource, 19, 'group:reset_group_snapshot_status'),
    }),
  ],
};
