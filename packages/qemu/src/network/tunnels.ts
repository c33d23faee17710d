import type { HostLinks } from '@apistrata/compute-engine/drivers';

/** The port that IANA has assigned to VXLAN. */
export const DEFAULT_TUNNEL_PORT = 4789;

/** The endpoint of a host's tunnels. */
export interface TunnelEnd {
  readonly address: string;
  readonly port: number;
}

/** The tunnels of this host to others. */
export interface Tunnels {
  readonly local: TunnelEnd;
  /** The other hosts by name, including those without a heartbeat, because their guests may still run. */
  readonly peers: ReadonlyMap<string, TunnelEnd>;
}

/**
 * Returns true if the location of senders can be learned from frames. Kernels learn addresses and assume their own
 * port; if hosts have different ports, because they share a computer, all frames are flooded.
 */
export function supportsLearning({ local, peers }: Tunnels): boolean {
  return [...peers.values()].every(({ port }) => port === local.port);
}

/** Returns the current hosts. */
export async function currentHosts(
  { self, address, all }: Pick<HostLinks, 'self' | 'address' | 'all'>,
  port: number,
): Promise<{ readonly tunnels: Tunnels; readonly alive: readonly string[] }> {
  const others = (await all()).filter(({ name }) => name !== self);
  const peers = new Map<string, TunnelEnd>();
  for (const { name, address: remoteAddress, tunnelPort } of others)
    if (tunnelPort !== null) peers.set(name, { address: remoteAddress, port: tunnelPort });
  const alive = others.filter(({ name, alive: lives }) => lives && peers.has(name)).map(({ name }) => name);
  return { tunnels: { local: { address, port }, peers }, alive };
}
