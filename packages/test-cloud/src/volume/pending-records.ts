import type { Call } from '../service/call.js';
import type { CloudContext } from '../service/cloud-context.js';

/** The part of a volume that counts toward the quotas. */
interface VolumeAmounts {
  readonly id: string;
  readonly sizeGb: number;
  readonly volumeType: string | null;
}

/** The part of a snapshot that counts toward the quotas. */
interface SnapshotAmounts {
  readonly id: string;
  readonly sizeGb: number;
  readonly volumeId: string;
}

/** A volume that is being created or extended, or a snapshot that is being created. */
export type PendingRecord = VolumeAmounts | SnapshotAmounts;

/** The pending records of each project, by id. */
const pendingByCloud = new WeakMap<CloudContext, Map<string, PendingRecord & { readonly projectId: string }>>();

/** Counts a record toward the caller's quotas until the response is sent. Catalogs list only complete records. */
export function addPending({ cloud, caller: { projectId }, res }: Call, record: PendingRecord): void {
  const pending = pendingByCloud.get(cloud) ?? new Map();
  pendingByCloud.set(cloud, pending.set(record.id, { ...record, projectId }));
  res.once('close', () => pending.delete(record.id));
}

/** Adds the pending records to the stored ones. The larger size counts for a volume that is being extended. */
function merge<T extends PendingRecord>(stored: readonly T[], pending: readonly T[]): readonly T[] {
  const merged = new Map(pending.map((record) => [record.id, record]));
  for (const record of stored) if (record.sizeGb >= (merged.get(record.id)?.sizeGb ?? 0)) merged.set(record.id, record);
  return [...merged.values()];
}

/** Returns all volumes and snapshots of a project that count toward its quotas, including the pending ones. */
export async function countedRecords(
  call: Call,
  projectId: string,
): Promise<{ readonly volumes: readonly VolumeAmounts[]; readonly snapshots: readonly SnapshotAmounts[] }> {
  // Pending records are read first: a record that is stored in the meantime keeps its id, so it is counted once.
  const pending = [...(pendingByCloud.get(call.cloud)?.values() ?? [])].filter((one) => one.projectId === projectId);
  const { volumes } = call.cloud.catalogs;
  const query = call.isAdmin ? { allProjects: true, projectId } : {};
  return {
    volumes: merge(
      await volumes.listVolumes(call.caller, query),
      pending.filter((record) => 'volumeType' in record),
    ),
    snapshots: merge(
      await volumes.listSnapshots(call.caller, query),
      pending.filter((record) => 'volumeId' in record),
    ),
  };
}
