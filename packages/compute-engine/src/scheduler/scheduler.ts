import { BlockList, isIP } from 'node:net';
import { lockName, type Tx } from '@apistrata/record-store';
import type { Claim, FlavorCopy, ServerGroup } from '../model/index.js';
import { LIVE, tables } from '../schema/tables.js';
import { claim, enter, type HostUsage, usageForClaim } from './claims.js';
import { fitsQuery } from './host-query.js';
import type { Host, HostMap, Infrastructure } from './infrastructure.js';
import { NoValidHost } from './no-valid-host.js';

/** What a server needs of its host. */
export interface Placement {
  readonly serverId: string;
  readonly flavor: FlavorCopy;
  readonly amounts: Omit<Claim, 'host'>;
  readonly zone: string | null;
  /** Only this host, by name or hypervisor name. */
  readonly host?: string;
  /** Only whether that host is at work and has room is asked, no other filter. */
  readonly forced?: boolean;
  readonly excludeHosts?: readonly string[];
  readonly hints: Readonly<Record<string, unknown>>;
  readonly group?: ServerGroup;
}

interface Question {
  readonly placement: Placement;
  readonly infrastructure: Infrastructure;
  readonly usage: ReadonlyMap<string, HostUsage>;
  /** How many servers of the group are on each host. */
  readonly members: ReadonlyMap<string, number>;
  readonly sameHosts: ReadonlySet<string> | undefined;
  readonly differentHosts: ReadonlySet<string> | undefined;
  /** Addresses of hosts that are near enough. */
  readonly near: BlockList | undefined;
}

type Filter = (host: Host, question: Question) => boolean;

function listOf(hint: unknown): readonly string[] {
  return hint === undefined || hint === null ? [] : [hint].flat().map(String);
}

/** Specs with one of these prefixes speak of something else than aggregates. */
function aggregateSpecs(flavor: FlavorCopy): [string, string][] {
  return Object.entries(flavor.extraSpecs)
    .filter(([key]) => key.startsWith('aggregate_instance_extra_specs:'))
    .map(([key, value]) => [key.slice('aggregate_instance_extra_specs:'.length), value]);
}

/** Each turns away hosts for one reason; in the order in which they are asked. */
const filters = {
  enabled: ({ service }, { infrastructure }) => !service.disabled && infrastructure.isUp(service),
  requested: ({ name, node }, { placement: { host } }) => !host || host === name || host === node.hypervisorHostname,
  excluded: ({ name }, { placement }) => !placement.excludeHosts?.includes(name),
  zone: ({ zone }, { placement }) => !placement.zone || placement.zone === zone,
  sameHost: ({ name }, { sameHosts }) => !sameHosts || sameHosts.has(name),
  differentHost: ({ name }, { differentHosts }) => !differentHosts?.has(name),
  query: (host, { placement: { hints }, usage }) =>
    hints.query === undefined || fitsQuery(hints.query, host, usage.get(host.name)),
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

/** What also hosts that an administrator forces have to pass. */
const { enabled, requested, excluded } = filters;
const unforced = { enabled, requested, excluded };

/** More is better: memory that would stay free, and what soft group policies wish for. */
function weigh(host: Host, { usage, members, placement: { group } }: Question): number {
  const free = host.node.memoryMb * host.node.ramAllocationRatio - (usage.get(host.name)?.memoryMb ?? 0);
  const together = (members.get(host.name) ?? 0) * 1e9;
  if (group?.policy === 'soft-affinity') return free + together;
  if (group?.policy === 'soft-anti-affinity') return free - together;
  return free;
}

/** The network around `build_near_host_ip` that `cidr` (`/24` when left out) spans; nothing for hints that are no such. */
function networkNear({ build_near_host_ip: address, cidr = '/24' }: Placement['hints']): BlockList | undefined {
  if (typeof address !== 'string') return undefined;
  const version = isIP(address);
  const prefix = Number(String(cidr).slice(1));
  const near = new BlockList();
  if (version === 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > (version === 4 ? 32 : 128)) return near;
  near.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
  return near;
}

async function hostsOf(tx: Tx, serverIds: readonly string[]): Promise<ReadonlySet<string>> {
  const servers = await Promise.all(
    serverIds.filter((id) => !id.includes('\0')).map((id) => tables.servers.get(tx, id)),
  );
  return new Set(servers.flatMap((server) => server?.host ?? []));
}

async function membersByHost(tx: Tx, { group, serverId }: Placement): Promise<ReadonlyMap<string, number>> {
  if (!group) return new Map();
  // Members decide one after the other: two of them must not both find a host empty.
  await lockName(tx, `group:${group.id}`);
  const servers = await tables.servers.find(tx, (q) => q.where('group_id', '=', group.id).where(LIVE));
  const counts = new Map<string, number>();
  for (const { id, claims } of servers) {
    for (const { host } of id === serverId ? [] : claims) counts.set(host, (counts.get(host) ?? 0) + 1);
  }
  return counts;
}

/**
 * Chooses a host and claims its capacity in the same transaction.
 * Throws {@link NoValidHost} when none is left.
 */
export async function place(tx: Tx, infrastructure: Infrastructure, map: HostMap, placement: Placement): Promise<Host> {
  const same = listOf(placement.hints.same_host);
  const different = listOf(placement.hints.different_host);
  const members = await membersByHost(tx, placement);
  const usage = await usageForClaim(tx);
  const question: Question = {
    placement,
    infrastructure,
    usage,
    members,
    sameHosts: same.length > 0 ? await hostsOf(tx, same) : undefined,
    differentHosts: different.length > 0 ? await hostsOf(tx, different) : undefined,
    near: networkNear(placement.hints),
  };
  const reasons: Record<string, number> = {};
  const applied = Object.entries<Filter>(placement.forced ? unforced : filters);
  const fitting = [...map.hosts.values()].filter((host) => {
    const refusal = applied.find(([, fits]) => !fits(host, question));
    if (!refusal) return true;
    const [name] = refusal;
    reasons[name] = (reasons[name] ?? 0) + 1;
    return false;
  });
  const weighed = fitting.map((host) => ({ host, weight: weigh(host, question) })).sort((a, b) => b.weight - a.weight);
  for (const { host } of weighed) {
    const taken = { host: host.name, ...placement.amounts };
    enter(usage, taken);
    if (await claim(tx, host.node, placement.amounts)) return host;
    enter(usage, taken, -1);
  }
  throw new NoValidHost({ ...reasons, capacity: fitting.length });
}
