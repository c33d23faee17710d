import { usesPhysicalNetwork } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan } from '@apistrata/compute-engine/drivers';
import type { DeviceNames } from './device-names.js';
import type { TunnelEndpoint, Tunnels } from './tunnels.js';

/** The MAC address of forwarding entries for broadcast frames and unknown destinations. */
const BROADCAST_MAC = '00:00:00:00:00:00';

/** A tunnel's forwarding entry in the output of `bridge`. */
export interface ForwardingEntry {
  readonly mac: string;
  readonly ifname: string;
  readonly dst?: string;
  /** The UDP port of the destination; missing if it equals the port of the tunnel device. */
  readonly port?: number;
  readonly state?: string;
}

/**
 * Returns the desired forwarding entries of all tunnels. Guest addresses are learned from traffic, and frames to
 * unknown addresses are flooded. Router addresses have static entries, so that no guest uses a router that has moved to
 * another host.
 *
 * @returns fragments of `bridge` commands, by device, MAC address and destination
 */
function desiredEntries(plan: NetworkPlan, names: DeviceNames, { local, peers }: Tunnels): ReadonlyMap<string, string> {
  const desired = new Map<string, string>();
  const addEntry = (networkId: string, mac: string, { address, port }: TunnelEndpoint) => {
    const entry = `${mac} dev ${names.tunnel(networkId)} dst ${address}`;
    desired.set(`${entry} ${port}`, port === local.port ? entry : `${entry} port ${port}`);
  };
  const tunnelNetworks = plan.networks.filter((network) => !usesPhysicalNetwork(network));
  for (const { id } of tunnelNetworks) for (const endpoint of peers.values()) addEntry(id, BROADCAST_MAC, endpoint);
  const networkIds = new Set(tunnelNetworks.map(({ id }) => id));
  for (const { host, interfaces } of plan.routers) {
    const endpoint = host === null ? undefined : peers.get(host);
    if (endpoint)
      for (const { networkId, mac } of interfaces) if (networkIds.has(networkId)) addEntry(networkId, mac, endpoint);
  }
  return desired;
}

/** Returns the `bridge` commands that change the existing forwarding entries to the desired ones, removals first. */
export function forwardingCommands(
  plan: NetworkPlan,
  names: DeviceNames,
  tunnels: Tunnels,
  existing: readonly ForwardingEntry[],
): readonly string[] {
  const desired = desiredEntries(plan, names, tunnels);
  const existingKeys = new Set<string>();
  const removals: string[] = [];
  for (const { mac, ifname, dst, port = tunnels.local.port, state } of existing) {
    if (dst === undefined || state !== 'permanent') continue;
    const entry = `${mac} dev ${ifname} dst ${dst}`;
    existingKeys.add(`${entry} ${port}`);
    if (!desired.has(`${entry} ${port}`)) removals.push(`fdb delete ${entry} port ${port}`);
  }
  const additions = [...desired].filter(([key]) => !existingKeys.has(key)).map(([, entry]) => entry);
  // `replace` overwrites a learned entry with a static one.
  return [
    ...removals,
    ...additions.map(
      (entry) => `fdb ${entry.startsWith(BROADCAST_MAC) ? 'append' : 'replace'} ${entry} self permanent`,
    ),
  ];
}
