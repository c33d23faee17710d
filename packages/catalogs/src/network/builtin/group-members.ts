import type { Session, Store } from '@apistrata/record-store';
import { sql } from 'kysely';
import { networkTables, type PortRecord } from './network-tables.js';

const { ports, securityGroups } = networkTables;

/** Returns an SQL condition for ports in any of these security groups. */
function inAnyGroup({ kind }: Session, groupIds: readonly string[]) {
  return kind === 'postgres'
    ? sql<boolean>`(data::jsonb -> 'securityGroupIds') ?| ${groupIds}::text[]`
    : sql<boolean>`exists (select 1 from json_each(data, '$.securityGroupIds')
        where value in (select value from json_each(${JSON.stringify(groupIds)})))`;
}

async function findGroupPorts(store: Store, groupIds: readonly string[]): Promise<readonly PortRecord[]> {
  const groups = await securityGroups.find(store, (q) => q.where('id', 'in', [...groupIds]));
  const projectIds = [...new Set(groups.map(({ projectId }) => projectId))];
  if (projectIds.length === 0) return [];
  // A security group applies only to ports in the group's own project.
  return ports.find(store, (q) =>
    q
      .where('project_id', 'in', projectIds)
      .where('device_id', '!=', '')
      .where(inAnyGroup(store, groupIds))
      .orderBy('seq'),
  );
}

/**
 * Returns the addresses of all servers in these security groups, by group id.
 * @param allPorts the ports of all servers, if they have already been read; by default, the ports are read from the database
 */
export async function findGroupMembers(
  store: Store,
  groupIds: readonly string[],
  allPorts?: readonly PortRecord[],
): Promise<Readonly<Record<string, readonly string[]>>> {
  if (groupIds.length === 0) return {};
  const memberPorts = allPorts ?? (await findGroupPorts(store, groupIds));
  const addressesInGroup = (groupId: string) =>
    memberPorts
      .filter(({ securityGroupIds }) => securityGroupIds.includes(groupId))
      .flatMap(({ fixedIps }) => fixedIps.map(({ address }) => address));
  return Object.fromEntries(groupIds.map((groupId) => [groupId, [...new Set(addressesInGroup(groupId))]]));
}
