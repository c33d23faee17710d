import type { VolumeView } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import { ifMissing } from '../service/if-missing.js';
import type { Wire } from '../service/wire.js';

/** Returns the ids of a table's records in which a field has the given value. */
const idsWith = (call: Call, tableName: string, field: string, value: string) =>
  [...call.cloud.documents.table<Wire>(tableName)].flatMap(([id, fields]) => (fields[field] === value ? [id] : []));

/**
 * Returns a group's volumes that the caller may see. Documents with the group's id may remain from volumes that were
 * deleted with their server.
 */
export async function volumesIn(call: Call, groupId: string): Promise<readonly VolumeView[]> {
  const pendingVolumes = idsWith(call, 'volume/volumes', 'group_id', groupId).map((id) =>
    call.cloud.catalogs.volumes.getVolume(call.caller, id).catch(ifMissing),
  );
  return (await Promise.all(pendingVolumes)).filter((volume) => volume !== undefined);
}

/** Returns the ids of the volume snapshots in a group snapshot. */
export const snapshotsIn = (call: Call, groupSnapshotId: string) =>
  idsWith(call, 'volume/snapshots', 'group_snapshot_id', groupSnapshotId);

/** Adds volumes to a group. Null removes them from their group. */
export function setGroup(call: Call, volumes: readonly string[], group_id: string | null): void {
  const table = call.cloud.documents.table<Wire>('volume/volumes');
  for (const id of volumes) table.set(id, { ...table.get(id), group_id });
}

/** Creates one record for each item. If one cannot be created, the previous ones are removed. */
export async function createAllOrNone<T>(
  items: readonly T[],
  create: (item: T) => Promise<{ readonly id: string }>,
  remove: (id: string) => Promise<void>,
): Promise<readonly string[]> {
  const ids: string[] = [];
  try {
    for (const item of items) ids.push((await create(item)).id);
  } catch (error) {
    for (const id of ids) await remove(id);
    throw error;
  }
  return ids;
}
