import type { Call } from '../service/call.js';
import { perCloud } from '../service/per-cloud.js';

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

/** The pending records of all projects, by id. */
const pendingRecords = perCloud(() => new Map<string, PendingRecord & { readonly projectId: string }>());

/** Counts a record toward the caller's quotas until the request has been handled. Catalogs list only complete records. */
export function addPending(call: Call, record: PendingRecord): void {
  const pending = pendingRecords(call.cloud);
  pending.set(record.id, { ...record, projectId: call.caller.projectId });
  call.onEnd(() => pending.delete(record.id));
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
  const pending = [...pendingRecords(call.cloud).values()].filter((one) => one.projectId === projectId);
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
