import type { Store } from '@apistrata/record-store';
import { tables } from '../../schema/tables.js';

/** Recorded instead of a host for a volume that no host could store. */
export const NO_HOST = '';

/**
 * Returns the host that stores volumes without a recorded host: the one that has stored volumes for the longest time.
 * Such volumes were created before hosts were recorded, or by an external volume service.
 */
async function findFirstVolumeHost(store: Store): Promise<string | undefined> {
  const nodes = await tables.nodes.find(store, (q) => q.orderBy('host'));
  const age = (process: (typeof nodes)[number]['process']) => process?.keepsVolumesSince ?? 0;
  return nodes
    .filter(({ process }) => process?.keepsVolumes)
    .sort((one, other) => age(one.process) - age(other.process))[0]?.host;
}

/** Returns the host that stores each volume or snapshot. The map contains no volumes that no host stores. */
export async function findVolumeHosts(store: Store, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await store.db
    .selectFrom('volume_homes')
    .select(['volume_id', 'host'])
    .where('volume_id', 'in', [...ids])
    .execute();
  const hosts = new Map<string, string>(rows.map(({ volume_id, host }) => [volume_id, host]));
  const unrecordedIds = ids.filter((id) => !hosts.has(id));
  const firstHost = unrecordedIds.length > 0 ? await findFirstVolumeHost(store) : undefined;
  if (firstHost !== undefined) for (const id of unrecordedIds) hosts.set(id, firstHost);
  for (const [id, host] of hosts) if (host === NO_HOST) hosts.delete(id);
  return hosts;
}

/** Returns a function that finds the host that stores a volume or snapshot, or null if no host does. */
export function createVolumeHostFinder(store: Store) {
  return async (id: string): Promise<string | null> => (await findVolumeHosts(store, [id])).get(id) ?? null;
}
