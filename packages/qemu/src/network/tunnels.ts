import type { HostLinks } from '@apistrata/compute-engine/drivers';

/** The port that the world has agreed on for VXLAN. */
export const USUAL_TUNNEL_PORT = 4789;

/** Where networks of a host meet those of others. */
export interface TunnelEnd {
  readonly address: string;
  readonly port: number;
}

/** How the networks of this host are joined with those of others. */
export interface Tunnels {
  readonly local: TunnelEnd;
  /** The other hosts, by name: those that have gone quiet too, for their guests have not. */
  readonly peers: ReadonlyMap<string, TunnelEnd>;
}

/**
 * Whether it can be learned from frames where their senders are. Kernels learn addresses and take the port for their own; where
 * hosts have different ones, because they are on one computer, everything goes to everybody.
 */
export function canLearn({ local, peers }: Tunnels): boolean {
  return [...peers.values()].every(({ port }) => port === local.port);
}

/** What is known of the hosts now. */
export async function hostsNow(
  { self, address, all }: Pick<HostLinks, 'self' | 'address' | 'all'>,
  port: number,
): Promise<{ readonly tunnels: Tunnels; readonly alive: readonly string[] }> {
  const others = (await all()).filter(({ name }) => name !== self);
  const peers = new Map<string, TunnelEnd>();
  for (const { name, address: theirs, tunnelPort } of others)
    if (tunnelPort !== null) peers.set(name, { address: theirs, port: tunnelPort });
  const alive = others.filter(({ name, alive: lives }) => lives && peers.has(name)).map(({ name }) => name);
  return { tunnels: { local: { address, port }, peers }, alive };
}
