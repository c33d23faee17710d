import {
  awaitStatements,
  batchStatement,
  hotStatement,
  preparedQuery,
  type Session,
  type Tx,
  transposeRows,
} from '@apistrata/record-store';
import { CompiledQuery, sql } from 'kysely';
import { groupBy } from '../core/group-by.js';
import type { Claim, Node } from '../model/index.js';
import type { ResourceAmounts } from './amounts.js';
import type { HostUsage } from './host-usage.js';
import { capacityOf, MAX_AMOUNT } from './inventories.js';
import { adjustResources, claimResources } from './resource-claims.js';

/** A claim to make on a node. */
interface RequestedClaim {
  readonly node: Node;
  readonly amounts: ResourceAmounts;
}

/**
 * Claims capacity on a host. Returns false if the capacity is insufficient. The check and the update are one statement,
 * so two schedulers can never claim the same capacity. Operations that share a transaction claim the sum of their
 * amounts per host in one statement; if the capacity is insufficient for the sum, they claim one by one.
 */
export async function claim(tx: Tx, node: Node, amounts: ResourceAmounts): Promise<boolean> {
  const { resources, ...columnAmounts } = amounts;
  if (!(await claimColumns(tx, node, columnAmounts))) return false;
  if (!resources || (await claimResources(tx, node, resources))) return true;
  await adjustAllocations(tx, { host: node.host, ...columnAmounts }, -1);
  return false;
}

/** Claims the resource classes whose allocations are columns of the table `nodes`. */
async function claimColumns(tx: Tx, node: Node, amounts: ResourceAmounts): Promise<boolean> {
  return batchStatement(
    tx,
    'claim',
    { node, amounts },
    (requestedClaim) => claimOne(tx, requestedClaim),
    async (requests) => {
      const hostsWithCapacity = await claimMany(tx, requests);
      const succeeded: boolean[] = [];
      for (const requestedClaim of requests)
        succeeded.push(hostsWithCapacity.has(requestedClaim.node.host) || (await claimOne(tx, requestedClaim)));
      return succeeded;
    },
  );
}

/** Returns the parameters of an update: the amounts to add, and the maximum allocations before the update. */
function updateParameters(
  node: Node,
  { vcpus, memoryMb, diskGb }: ResourceAmounts,
  servers: number,
): readonly (number | string)[] {
  return [
    vcpus,
    memoryMb,
    diskGb,
    servers,
    node.host,
    maxAllocationBefore(node, 'VCPU', vcpus),
    maxAllocationBefore(node, 'MEMORY_MB', memoryMb),
    maxAllocationBefore(node, 'DISK_GB', diskGb),
  ];
}

/** Returns the maximum amount that may be allocated before a claim; unlimited if the claimed amount is zero. */
function maxAllocationBefore(node: Node, resourceClass: string, amount: number): number {
  return amount === 0 ? MAX_AMOUNT : capacityOf(node, resourceClass) - amount;
}

async function claimOne(tx: Tx, { node, amounts }: RequestedClaim): Promise<boolean> {
  const { numAffectedRows } = await claimCapacity(tx, updateParameters(node, amounts, 1));
  return numAffectedRows === 1n;
}

/**
 * Claims the sum of the amounts on each host. Returns the hosts with sufficient capacity; on others, nothing is
 * claimed.
 */
async function claimMany(tx: Tx, requests: readonly RequestedClaim[]): Promise<ReadonlySet<string>> {
  const rows = [...groupBy(requests, ({ node }) => node.host).values()].map((hostRequests) => {
    const sum = (pick: (amounts: ResourceAmounts) => number) =>
      hostRequests.reduce((all, { amounts }) => all + pick(amounts), 0);
    const all = { vcpus: sum((a) => a.vcpus), memoryMb: sum((a) => a.memoryMb), diskGb: sum((a) => a.diskGb) };
    return updateParameters((hostRequests[0] as RequestedClaim).node, all, hostRequests.length);
  });
  const parameters = transposeRows(8, rows);
  const claimed = await tx.db.executeQuery<{ readonly host: string }>({ ...claimCapacities, parameters } as never);
  return new Set(claimed.rows.map(({ host }) => host));
}

/** Claims capacity on many hosts. Used only with PostgreSQL, where operations share transactions. */
const claimCapacities = preparedQuery(
  CompiledQuery.raw(
    `update nodes set vcpus_used = vcpus_used + given.vcpus, memory_mb_used = memory_mb_used + given.memory_mb,
       local_gb_used = local_gb_used + given.local_gb, servers = nodes.servers + given.servers
     from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[])
       as given(vcpus, memory_mb, local_gb, servers, host, most_vcpus, most_memory_mb, most_local_gb)
     where nodes.host = given.host and vcpus_used <= most_vcpus and memory_mb_used <= most_memory_mb
       and local_gb_used <= most_local_gb
     returning nodes.host`,
  ),
);

const claimCapacity = hotStatement(({ db }) =>
  db
    .updateTable('nodes')
    .set({
      vcpus_used: sql`vcpus_used + ${0}`,
      memory_mb_used: sql`memory_mb_used + ${0}`,
      local_gb_used: sql`local_gb_used + ${0}`,
      servers: sql`servers + ${0}`,
    })
    .where('host', '=', '')
    .where('vcpus_used', '<=', 0)
    .where('memory_mb_used', '<=', 0)
    .where('local_gb_used', '<=', 0),
);

/**
 * Claims capacity even if it is insufficient, for moves that an administrator forces. Returns false if the host does not
 * exist anymore.
 */
export async function forceClaim(tx: Tx, claim: Claim): Promise<boolean> {
  return adjustAllocations(tx, claim, 1);
}

/** Releases claimed capacity. */
export async function releaseClaim(tx: Tx, claim: Claim): Promise<void> {
  await adjustAllocations(tx, claim, -1);
}

async function adjustAllocations(
  tx: Tx,
  { host, vcpus, memoryMb, diskGb, resources }: Claim,
  sign: 1 | -1,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('nodes')
    .set({
      vcpus_used: sql`vcpus_used + ${sign * vcpus}`,
      memory_mb_used: sql`memory_mb_used + ${sign * memoryMb}`,
      local_gb_used: sql`local_gb_used + ${sign * diskGb}`,
      servers: sql`servers + ${sign}`,
    })
    .where('host', '=', host)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) return false;
  if (resources) await adjustResources(tx, host, resources, sign);
  return true;
}

interface UsageRow {
  readonly host: string;
  readonly vcpus_used: number;
  readonly memory_mb_used: number;
  readonly local_gb_used: number;
  readonly servers: number;
}

const selectUsage = hotStatement<UsageRow>(({ db }) =>
  db.selectFrom('nodes').select(['host', 'vcpus_used', 'memory_mb_used', 'local_gb_used', 'servers']),
);

const takeClaimsLock = hotStatement(({ db }) =>
  db.selectNoFrom(sql`pg_advisory_xact_lock(hashtextextended('claims', 0))`.as('taken')),
);

/**
 * Serializes transactions that change the allocations of several hosts, because transactions that lock the hosts in
 * different orders could deadlock. This includes all shared transactions that claim capacity. A transaction that also
 * locks a server group must lock the group first.
 */
export async function lockClaims(tx: Tx): Promise<void> {
  if (tx.kind === 'postgres') await takeClaimsLock(tx, []);
}

/**
 * Returns the allocations of all hosts, for selecting a host in this transaction. Operations that share the transaction
 * also share the result. Each operation adds its claim to the result (`addToUsage`), so that they do not all select the
 * same host.
 */
export async function usageForClaim(tx: Tx): Promise<Map<string, HostUsage>> {
  if (!tx.batch) return usageByHost(tx);
  return tx.batch.once('usage of hosts', async () => {
    const [, usage] = await awaitStatements([takeClaimsLock(tx, []), usageByHost(tx)]);
    return usage;
  });
}

/** Adds a claim to shared allocations; with the sign -1, removes a claim that failed. */
export function addToUsage(usage: Map<string, HostUsage>, { host, ...amounts }: Claim, sign: 1 | -1 = 1): void {
  const usageBefore = usage.get(host);
  if (!usageBefore) return;
  usage.set(host, {
    vcpus: usageBefore.vcpus + sign * amounts.vcpus,
    memoryMb: usageBefore.memoryMb + sign * amounts.memoryMb,
    diskGb: usageBefore.diskGb + sign * amounts.diskGb,
    servers: usageBefore.servers + sign,
  });
}

/** Returns the allocations on each host. */
export async function usageByHost(session: Session): Promise<Map<string, HostUsage>> {
  const { rows } = await selectUsage(session, []);
  return new Map(
    rows.map((row) => [
      row.host,
      { vcpus: row.vcpus_used, memoryMb: row.memory_mb_used, diskGb: row.local_gb_used, servers: row.servers },
    ]),
  );
}
