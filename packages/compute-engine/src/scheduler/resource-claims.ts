import type { Session, Tx } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { Claim, Node } from '../model/index.js';
import { capacityOf } from './inventories.js';

type Resources = NonNullable<Claim['resources']>;

interface ResourceRow {
  readonly host: string;
  readonly resource_class: string;
  readonly used: number | string;
}

/** Adds to the allocations of a host, unless these would exceed `max`. Returns whether they were changed. */
async function addAllocation(
  tx: Tx,
  host: string,
  resourceClass: string,
  amount: number,
  max?: number,
): Promise<boolean> {
  const limit = max === undefined ? sql`` : sql`where host_resources.used + excluded.used <= ${max}`;
  const { rows } = await sql`
    insert into host_resources (host, resource_class, used) values (${host}, ${resourceClass}, ${amount})
    on conflict (host, resource_class) do update set used = host_resources.used + excluded.used ${limit}
    returning host`.execute(tx.db);
  return rows.length > 0;
}

/**
 * Claims amounts of resource classes on a host. If the capacity of one class is insufficient, returns false and claims
 * nothing. Each class is checked and changed by one statement, like the columns of the node. The caller has already
 * updated the node's row in this transaction, which serializes the claims on a host.
 */
export async function claimResources(tx: Tx, node: Node, resources: Resources): Promise<boolean> {
  const claimed: Record<string, number> = {};
  for (const [name, amount] of Object.entries(resources)) {
    const capacity = capacityOf(node, name);
    if (amount > capacity || !(await addAllocation(tx, node.host, name, amount, capacity))) {
      await adjustResources(tx, node.host, claimed, -1);
      return false;
    }
    claimed[name] = amount;
  }
  return true;
}

/** Adds amounts to the allocations of a host, or removes them. */
export async function adjustResources(tx: Tx, host: string, resources: Resources, sign: 1 | -1): Promise<void> {
  for (const [name, amount] of Object.entries(resources)) await addAllocation(tx, host, name, sign * amount);
}

/** Returns the stored allocations of each host by resource class, without those that are zero. */
export async function resourcesByHost(session: Session): Promise<ReadonlyMap<string, Resources>> {
  const { rows } = await sql<ResourceRow>`select * from host_resources where used <> 0`.execute(session.db);
  return groupByHost(rows);
}

/** Groups the amounts of resource classes by host. */
export function groupByHost(rows: readonly ResourceRow[]): Map<string, Resources> {
  const byHost = new Map<string, Record<string, number>>();
  for (const { host, resource_class: name, used } of rows) {
    const resources = byHost.get(host) ?? {};
    resources[name] = Number(used);
    byHost.set(host, resources);
  }
  return byHost;
}

/** Replaces the stored allocations of a host. */
export async function setResources(tx: Tx, host: string, resources: Resources): Promise<void> {
  await dropResources(tx, host);
  await adjustResources(tx, host, resources, 1);
}

/** Removes the stored allocations of a host. */
export async function dropResources(tx: Tx, host: string): Promise<void> {
  await tx.db.deleteFrom('host_resources').where('host', '=', host).execute();
}
