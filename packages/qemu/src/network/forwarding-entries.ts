import { isPhysical } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan } from '@apistrata/compute-engine/drivers';
import type { DeviceNames } from './device-names.js';
import type { TunnelEnd, Tunnels } from './tunnels.js';

/** The entry for broadcast frames and for unknown destinations. */
const BROADCAST = '00:00:00:00:00:00';

/** A forwarding entry of a tunnel in the output of `bridge`. */
export interface ForwardingEntry {
  readonly mac: string;
  readonly ifname: string;
  readonly dst?: string;
  /** Missing if it is the port of the device. */
  readonly port?: number;
  readonly state?: string;
}

/**
 * Returns the forwarding entries of tunnels. Addresses of guests are learned, and frames to unknown ones are
 * flooded; entries of routers are static, so that no guest uses a router that another host has taken over.
 *
 * @returns command fragments by device, MAC address and destination
 */
function desiredEntries(plan: NetworkPlan, names: DeviceNames, { local, peers }: Tunnels): ReadonlyMap<string, string> {
  const desired = new Map<string, string>();
  const add = (networkId: string, mac: string, { address, port }: TunnelEnd) => {
    const entry = `${mac} dev ${names.tunnel(networkId)} dst ${address}`;
    desired.set(`${entry} ${port}`, port === local.port ? entry : `${entry} port ${port}`);
  };
  const inside = plan.networks.filter((network) => !isPhysical(network));
  for (const { id } of inside) for (const end of peers.values()) add(id, BROADCAST, end);
  const networkIds = new Set(inside.map(({ id }) => id));
  for (const { host, interfaces } of plan.routers) {
    const end = host === null ? undefined : peers.get(host);
    if (end) for (const { networkId, mac } of interfaces) if (networkIds.has(networkId)) add(networkId, mac, end);
  }
  return desired;
}

/** Returns the `bridge` commands that change the existing entries to the desired ones, removals first. */
export function forwardingCommands(
  plan: NetworkPlan,
  names: DeviceNames,
  tunnels: Tunnels,
  existing: readonly ForwardingEntry[],
): readonly string[] {
  const desired = desiredEntries(plan, names, tunnels);
  const existingKeys = new Set<string>();
  const stale: string[] = [];
  for (const { mac, ifname, dst, port = tunnels.local.port, state } of existing) {
    if (dst === undefined || state !== 'permanent') continue;
    const entry = `${mac} dev ${ifname} dst ${dst}`;
    existingKeys.add(`${entry} ${port}`);
    if (!desired.has(`${entry} ${port}`)) stale.push(`fdb delete ${entry} port ${port}`);
  }
  const missing = [...desired].filter(([key]) => !existingKeys.has(key)).map(([, entry]) => entry);
  // A static entry replaces one that was learned.
  return [
    ...stale,
    ...missing.map((entry) => `fdb ${entry.startsWith(BROADCAST) ? 'append' : 'replace'} ${entry} self permanent`),
  ];
}
