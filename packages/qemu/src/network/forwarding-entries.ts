import type { NetworkPlan } from '@apistrata/compute-engine/drivers';
import type { DeviceNames } from './device-names.js';
import type { TunnelEnd, Tunnels } from './tunnels.js';

/** Frames for nobody in particular, and those for whom it is not known where they are. */
const EVERYBODY = '00:00:00:00:00:00';

/** Where a tunnel sends frames for a MAC address, as `bridge` tells it. */
export interface ForwardingEntry {
  readonly mac: string;
  readonly ifname: string;
  readonly dst?: string;
  /** Left out where it is that of the device. */
  readonly port?: number;
  readonly state?: string;
}

/**
 * Where tunnels send frames. What guests send is learned, and goes to everybody until then; routers are where they are said to
 * be, so that nobody goes by one that another host has taken over.
 * @returns by device, MAC address and end: the part of a command
 */
function wantedEntries(plan: NetworkPlan, names: DeviceNames, { local, peers }: Tunnels): ReadonlyMap<string, string> {
  const wanted = new Map<string, string>();
  const add = (networkId: string, mac: string, { address, port }: TunnelEnd) => {
    const where = `${mac} dev ${names.tunnel(networkId)} dst ${address}`;
    wanted.set(`${where} ${port}`, port === local.port ? where : `${where} port ${port}`);
  };
  for (const { id } of plan.networks) for (const end of peers.values()) add(id, EVERYBODY, end);
  const known = new Set(plan.networks.map(({ id }) => id));
  for (const { host, interfaces } of plan.routers) {
    const end = host === null ? undefined : peers.get(host);
    if (end) for (const { networkId, mac } of interfaces) if (known.has(networkId)) add(networkId, mac, end);
  }
  return wanted;
}

/** What `bridge` is told to come from the entries that there are to those that are desired; first what goes. */
export function forwardingCommands(
  plan: NetworkPlan,
  names: DeviceNames,
  tunnels: Tunnels,
  there: readonly ForwardingEntry[],
): readonly string[] {
  const wanted = wantedEntries(plan, names, tunnels);
  const known = new Set<string>();
  const stale: string[] = [];
  for (const { mac, ifname, dst, port = tunnels.local.port, state } of there) {
    if (dst === undefined || state !== 'permanent') continue;
    const where = `${mac} dev ${ifname} dst ${dst}`;
    known.add(`${where} ${port}`);
    if (!wanted.has(`${where} ${port}`)) stale.push(`fdb delete ${where} port ${port}`);
  }
  const missing = [...wanted].filter(([key]) => !known.has(key)).map(([, entry]) => entry);
  // A MAC address that was learned before is where it is said to be from now on.
  return [
    ...stale,
    ...missing.map((entry) => `fdb ${entry.startsWith(EVERYBODY) ? 'append' : 'replace'} ${entry} self permanent`),
  ];
}
