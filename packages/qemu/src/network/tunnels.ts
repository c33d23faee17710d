import type { HostLinks } from '@apistrata/compute-engine/drivers';
import { deriveInnerAddress, isPublicKey, type WireguardPeer } from './wireguard-peer.js';

/** The UDP port that IANA has assigned to VXLAN. */
export const DEFAULT_TUNNEL_PORT = 4789;
/** The UDP port that WireGuard usually uses. IANA has assigned none. */
export const DEFAULT_WIREGUARD_PORT = 51_820;

/** A host's tunnel endpoint. */
export interface TunnelEndpoint {
  readonly address: string;
  readonly port: number;
}

/** This host's tunnels to other hosts. */
export interface Tunnels {
  readonly local: TunnelEndpoint;
  /** Tunnel endpoints by host name, including hosts without a heartbeat, because their guests may still be running. */
  readonly peers: ReadonlyMap<string, TunnelEndpoint>;
  /** The interface that encrypts the tunnels; undefined if the tunnels are not encrypted. */
  readonly wireguard?: { readonly device: string; readonly peers: readonly WireguardPeer[] } | undefined;
}

/** The current state of all other hosts, and the tunnels to these hosts. */
export interface CurrentHosts {
  readonly tunnels: Tunnels;
  /** The names of the other hosts that have a current heartbeat. */
  readonly alive: readonly string[];
  /** Why this host has no tunnels to some hosts, in one line; null if it has tunnels to all of them. */
  readonly problem: string | null;
}

/**
 * Returns true if guest locations can be learned from received frames. The kernel learns a sender's address, but
 * assumes that all hosts use the same UDP port. If ports differ because hosts share a computer, all frames are flooded.
 */
export function supportsLearning({ local, peers }: Tunnels): boolean {
  return [...peers.values()].every(({ port }) => port === local.port);
}

/**
 * Returns the state of the other hosts, and the tunnels to them. If only one of two hosts encrypts its tunnels, they
 * have no tunnel to each other.
 *
 * @param wireguard the interface that encrypts the tunnels; undefined if the tunnels are not encrypted
 */
export async function readCurrentHosts(
  { self, address, all }: Pick<HostLinks, 'self' | 'address' | 'all'>,
  localTunnelPort: number,
  wireguard?: { readonly device: string; readonly address: string },
): Promise<CurrentHosts> {
  const otherHosts = (await all()).filter(({ name, tunnelPort }) => name !== self && tunnelPort !== null);
  const peers = new Map<string, TunnelEndpoint>();
  const encryptedPeers: WireguardPeer[] = [];
  const excludedHosts: string[] = [];
  for (const { name, alive, address: remoteAddress, tunnelPort, wireguard: wireguardEnd } of otherHosts) {
    const validKey = wireguardEnd && isPublicKey(wireguardEnd.publicKey) ? wireguardEnd.publicKey : undefined;
    if (tunnelPort === null) continue;
    if (!wireguardEnd && !wireguard) peers.set(name, { address: remoteAddress, port: tunnelPort });
    else if (wireguardEnd && validKey && wireguard) {
      peers.set(name, { address: deriveInnerAddress(validKey), port: tunnelPort });
      encryptedPeers.push({ address: remoteAddress, publicKey: validKey, port: wireguardEnd.port });
    } else if (alive) excludedHosts.push(name);
  }
  const names = excludedHosts.join(', ');
  const encryptionVerb = wireguard ? 'do not encrypt' : 'encrypt';
  return {
    tunnels: {
      local: { address: wireguard?.address ?? address, port: localTunnelPort },
      peers,
      wireguard: wireguard && { device: wireguard.device, peers: encryptedPeers },
    },
    alive: otherHosts.flatMap(({ name, alive }) => (alive ? [name] : [])),
    problem: (names && `no tunnels to the hosts ${names}, which ${encryptionVerb} their tunnels`) || null,
  };
}
