import type { HostLinks } from '@apistrata/compute-engine/drivers';
import { insideAddress, isPublicKey, type WireguardPeer } from './wireguard-peer.js';

/** The port that IANA has assigned to VXLAN. */
export const DEFAULT_TUNNEL_PORT = 4789;
/** The port that WireGuard usually uses; none is assigned to it. */
export const DEFAULT_WIREGUARD_PORT = 51_820;

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
  /** The interface that encrypts the tunnels; undefined: they are not encrypted. */
  readonly wireguard?: { readonly device: string; readonly peers: readonly WireguardPeer[] } | undefined;
}

/** The other hosts, and the tunnels to them. */
export interface CurrentHosts {
  readonly tunnels: Tunnels;
  /** The names of the hosts with a heartbeat. */
  readonly alive: readonly string[];
  /** Why this host has no tunnels to some of the others, in one line; null if it has tunnels to all of them. */
  readonly problem: string | null;
}

/**
 * Returns true if the location of senders can be learned from frames. Kernels learn addresses and assume their own
 * port; if hosts have different ports, because they share a computer, all frames are flooded.
 */
export function supportsLearning({ local, peers }: Tunnels): boolean {
  return [...peers.values()].every(({ port }) => port === local.port);
}

/**
 * Returns the other hosts, and the tunnels to them. There is no tunnel between a host that encrypts and one that does not.
 *
 * @param wireguard the interface that encrypts the tunnels; undefined: they are not encrypted
 */
export async function currentHosts(
  { self, address, all }: Pick<HostLinks, 'self' | 'address' | 'all'>,
  port: number,
  wireguard?: { readonly device: string; readonly address: string },
): Promise<CurrentHosts> {
  const others = (await all()).filter(({ name, tunnelPort }) => name !== self && tunnelPort !== null);
  const peers = new Map<string, TunnelEnd>();
  const encrypted: WireguardPeer[] = [];
  const excluded: string[] = [];
  for (const { name, alive, address: remoteAddress, tunnelPort, wireguard: end } of others) {
    const key = end && isPublicKey(end.publicKey) ? end.publicKey : undefined;
    if (tunnelPort === null) continue;
    if (!end && !wireguard) peers.set(name, { address: remoteAddress, port: tunnelPort });
    else if (end && key && wireguard) {
      peers.set(name, { address: insideAddress(key), port: tunnelPort });
      encrypted.push({ address: remoteAddress, publicKey: key, port: end.port });
    } else if (alive) excluded.push(name);
  }
  const names = excluded.join(', ');
  const difference = wireguard ? 'do not encrypt' : 'encrypt';
  return {
    tunnels: {
      local: { address: wireguard?.address ?? address, port },
      peers,
      wireguard: wireguard && { device: wireguard.device, peers: encrypted },
    },
    alive: others.flatMap(({ name, alive }) => (alive ? [name] : [])),
    problem: (names && `no tunnels to the hosts ${names}, which ${difference} their tunnels`) || null,
  };
}
