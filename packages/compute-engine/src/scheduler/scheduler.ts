import { BlockList, isIP } from 'node:net';
import { lockName, type Tx } from '@apistrata/record-store';
import type { FlavorCopy, ServerGroup } from '../model/index.js';
import { LIVE_SERVERS, tables } from '../schema/tables.js';
import { amountsByClass, type ResourceAmounts } from './amounts.js';
import { hasCapabilities } from './capabilities.js';
import { addToUsage, claim, usageForClaim } from './claims.js';
import { remainingDiskGb } from './disk-space.js';
import { matchesQuery } from './host-query.js';
import type { HostUsage } from './host-usage.js';
import type { Host, HostMap, Infrastructure } from './infrastructure.js';
import { canProvide, traitsOf } from './inventories.js';
import { NoValidHost } from './no-valid-host.js';
import { flavorRequest, type RequestedTraits, requestedTraits } from './requested-offer.js';

/** The requirements that a server has for its host. */
export interface Placement {
  readonly serverId: string;
  readonly flavor: FlavorCopy;
  /** Image properties, which may require traits of the host. */
  readonly imageProperties: Readonly<Record<string, string>>;
  readonly amounts: ResourceAmounts;
  readonly zone: string | null;
  /** The only acceptable host, by name or hypervisor name. */
  readonly host?: string;
  /** Whether an administrator forces the host, so that only `forcedFilters` apply. */
  readonly forced?: boolean;
  readonly excludeHosts?: readonly string[];
  readonly hints: Readonly<Record<string, unknown>>;
  readonly group?: ServerGroup;
}

interface PlacementQuery {
  readonly placement: Placement;
  readonly infrastructure: Infrastructure;
  readonly usage: ReadonlyMap<string, HostUsage>;
  /** The requested capacity by resource class. */
  readonly resources: readonly (readonly [string, number])[];
  readonly traits: RequestedTraits;
  /** Number of the group's servers on each host. */
  readonly members: ReadonlyMap<string, number>;
  readonly sameHosts: ReadonlySet<string> | undefined;
  readonly differentHosts: ReadonlySet<string> | undefined;
  /** The network in which the host must be; undefined if the server does not request one. */
  readonly near: BlockList | undefined;
}

type Filter = (host: Host, query: PlacementQuery) => boolean;

/** Returns the extra specs for aggregates, without their prefix. */
function aggregateSpecs(flavor: FlavorCopy): [string, string][] {
  return Object.entries(flavor.extraSpecs)
    .filter(([key]) => key.startsWith('aggregate_instance_extra_specs:'))
    .map(([key, value]) => [key.slice('aggregate_instance_extra_specs:'.length), value]);
}

/** The host filters, in the order in which they are applied. Each rejects hosts for one reason. */
const filters = {
  enabled: ({ service }, { infrastructure }) => !service.disabled && infrastructure.isUp(service),
  requested: ({ name, node }, { placement: { host } }) => !host || host === name || host === node.hypervisorHostname,
  excluded: ({ name }, { placement }) => !placement.excludeHosts?.includes(name),
  zone: ({ zone }, { placement }) => !placement.zone || placement.zone === zone,
  resources: ({ node }, { placement: { flavor }, resources }) =>
    !flavorRequest(flavor).separate && resources.every(([name, amount]) => canProvide(node, name, amount)),
  /**
   * Rejects hosts without sufficient disk space. Like Nova's disk filter, counts all space that is used or promised on
   * the file system, including space that other programs use.
   */
  diskSpace: ({ node }, { resources }) =>
    resources.every(([name, amount]) => name !== 'DISK_GB' || amount <= remainingDiskGb(node)),
  traits: ({ node }, { traits: { required, forbidden } }) => {
    const traits = traitsOf(node);
    return required.every((name) => traits.has(name)) && !forbidden.some((name) => traits.has(name));
  },
  capabilities: (host, { placement: { flavor }, usage }) =>
    hasCapabilities(host, usage.get(host.name), flavorRequest(flavor).capabilities),
  sameHost: ({ name }, { sameHosts }) => sameHosts?.has(name) ?? true,
  differentHost: ({ name }, { differentHosts }) => !differentHosts?.has(name),
  query: (host, { placement: { hints }, usage }) =>
    hints.query === undefined || matchesQuery(hints.query, host, usage.get(host.name)),
  near: ({ node }, { near }) => !near || near.check(node.hostIp, isIP(node.hostIp) === 6 ? 'ipv6' : 'ipv4'),
  aggregateSpecs: ({ aggregates }, { placement }) =>
    aggregateSpecs(placement.flavor).every(([key, value]) =>
      aggregates.some(({ metadata }) =>
        metadata[key]
          ?.split(',')
          .map((s) => s.trim())
          .includes(value.replace(/^(s==|==|=)\s*/, '')),
      ),
    ),
  affinity: ({ name }, { placement: { group }, members }) =>
    group?.policy !== 'affinity' || members.size === 0 || members.has(name),
  antiAffinity: ({ name }, { placement: { group }, members }) =>
    group?.policy !== 'anti-affinity' || (members.get(name) ?? 0) < (group.maxServerPerHost ?? 1),
} satisfies Record<string, Filter>;

/** The filters that also apply to forced hosts. */
const { enabled, requested, excluded, resources, diskSpace, traits } = filters;
const forcedFilters = { enabled, requested, excluded, resources, diskSpace, traits };

/**
 * Returns the weight of a host: its remaining memory, adjusted by soft group policies. Hosts with a higher weight are
 * preferred.
 */
function weightOf(host: Host, { usage, members, placement: { group } }: PlacementQuery): number {
  const freeMemory = host.node.memoryMb * host.node.ramAllocationRatio - (usage.get(host.name)?.memoryMb ?? 0);
  const affinity = (members.get(host.name) ?? 0) * 1e9;
  if (group?.policy === 'soft-affinity') return freeMemory + affinity;
  if (group?.policy === 'soft-anti-affinity') return freeMemory - affinity;
  return freeMemory;
}

/**
 * Returns the network around `build_near_host_ip` with the prefix length `cidr` (default `/24`); undefined without this
 * hint.
 */
function nearNetwork({ build_near_host_ip: address, cidr = '/24' }: Placement['hints']): BlockList | undefined {
  if (typeof address !== 'string') return undefined;
  const version = isIP(address);
  const prefix = Number(String(cidr).slice(1));
  const near = new BlockList();
  if (version === 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > (version === 4 ? 32 : 128)) return near;
  near.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
  return near;
}

/** Returns the hosts of the servers that a scheduler hint names; undefined if it names none. */
async function readHostsOf(tx: Tx, hint: unknown): Promise<ReadonlySet<string> | undefined> {
  const serverIds = [hint ?? []].flat().map(String);
  if (serverIds.length === 0) return undefined;
  const servers = await Promise.all(
    serverIds.filter((id) => !id.includes('\0')).map((id) => tables.servers.get(tx, id)),
  );
  return new Set(servers.flatMap((server) => server?.host ?? []));
}

/**
 * Serializes the placements of a server group's servers until the transaction ends, so that two of them do not both
 * find a host empty.
 */
export async function lockGroup(tx: Tx, groupId: string): Promise<void> {
  await lockName(tx, `group:${groupId}`);
}

async function countMembersByHost(tx: Tx, { group, serverId }: Placement): Promise<ReadonlyMap<string, number>> {
  if (!group) return new Map();
  await lockGroup(tx, group.id);
  const servers = await tables.servers.find(tx, (q) => q.where('group_id', '=', group.id).where(LIVE_SERVERS));
  const counts = new Map<string, number>();
  for (const { id, claims } of servers) {
    for (const { host } of id === serverId ? [] : claims) counts.set(host, (counts.get(host) ?? 0) + 1);
  }
  return counts;
}

/**
 * Selects a host and claims its capacity in the same transaction.
 *
 * @throws {@link NoValidHost}
 */
export async function selectAndClaimHost(
  tx: Tx,
  infrastructure: Infrastructure,
  map: HostMap,
  placement: Placement,
): Promise<Host> {
  const members = await countMembersByHost(tx, placement);
  const usage = await usageForClaim(tx);
  const request: PlacementQuery = {
    placement,
    infrastructure,
    usage,
    resources: amountsByClass(placement.amounts),
    traits: requestedTraits(placement.flavor, placement.imageProperties),
    members,
    sameHosts: await readHostsOf(tx, placement.hints.same_host),
    differentHosts: await readHostsOf(tx, placement.hints.different_host),
    near: nearNetwork(placement.hints),
  };
  const reasons: Record<string, number> = {};
  const appliedFilters = Object.entries<Filter>(placement.forced ? forcedFilters : filters);
  const hosts = [...map.hosts.values()];
  const fittingHosts = hosts.filter((host) => {
    const rejection = appliedFilters.find(([, fits]) => !fits(host, request));
    if (!rejection) return true;
    const [name] = rejection;
    reasons[name] = (reasons[name] ?? 0) + 1;
    return false;
  });
  const weighedHosts = fittingHosts
    .map((host) => ({ host, weight: weightOf(host, request) }))
    .sort((a, b) => b.weight - a.weight);
  for (const { host } of weighedHosts) {
    const newClaim = { host: host.name, ...placement.amounts };
    addToUsage(usage, newClaim);
    if (await claim(tx, host.node, placement.amounts)) return host;
    addToUsage(usage, newClaim, -1);
  }
  const missingTraits = request.traits.required.filter((name) => !hosts.some(({ node }) => traitsOf(node).has(name)));
  throw new NoValidHost({ ...reasons, capacity: fittingHosts.length }, undefined, missingTraits);
}
