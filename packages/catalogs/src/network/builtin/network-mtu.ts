import type { Session, Tx } from '@apistrata/record-store';
import { usesPhysicalNetwork } from '../provider-segment.js';
import { networkTables } from './network-tables.js';

const { networks } = networkTables;

/** The Ethernet MTU. Connections between hosts have this MTU unless an administrator has configured a larger one. */
const DEFAULT_MTU = 1_500;

/** A host's endpoint for tunnels to other hosts. */
export interface HostTunnel {
  /** The host's IP address. */
  readonly address: string;
  /** Whether WireGuard encrypts the tunnels. */
  readonly encrypted: boolean;
}

/** The tunnel overhead per packet, by IP version: IP, UDP and VXLAN headers, and the inner Ethernet header. */
const TUNNEL_BYTES = { 4: 50, 6: 70 } as const;
/** The WireGuard overhead per packet, by IP version: IP, UDP and WireGuard headers, and the authentication tag. */
const ENCRYPTION_BYTES = { 4: 60, 6: 80 } as const;

function tunnelMtu({ address, encrypted }: HostTunnel): number {
  const ipVersion = address.includes(':') ? 6 : 4;
  // VXLAN tunnels inside WireGuard always use IPv6.
  return DEFAULT_MTU - (encrypted ? ENCRYPTION_BYTES[ipVersion] + TUNNEL_BYTES[6] : TUNNEL_BYTES[ipVersion]);
}

/** Returns the MTU of a network that spans these tunnels. Returns the Ethernet MTU if the list is empty. */
function mtuOverTunnels(tunnels: readonly HostTunnel[]): number {
  return Math.min(DEFAULT_MTU, ...tunnels.map(tunnelMtu));
}

/**
 * Returns the default MTU of a new network.
 *
 * @param withoutTunnels true for external and physical networks, which do not use tunnels
 */
export async function defaultMtu(
  { hostTunnels }: { readonly hostTunnels: (session: Session) => Promise<readonly HostTunnel[]> },
  session: Session,
  withoutTunnels = false,
): Promise<number> {
  return withoutTunnels ? DEFAULT_MTU : mtuOverTunnels(await hostTunnels(session));
}

/**
 * Lowers the MTU of networks whose MTU exceeds that of a new host's tunnels. A network MTU that exceeds the Ethernet
 * MTU is not changed, because an administrator has set it.
 *
 * @param existingTunnels the tunnel endpoints of the existing hosts
 */
export async function lowerMtuForTunnels(
  tx: Tx,
  existingTunnels: readonly HostTunnel[],
  tunnel: HostTunnel,
  now: number,
): Promise<void> {
  const mtu = tunnelMtu(tunnel);
  if (mtuOverTunnels(existingTunnels) <= mtu) return;
  const internalNetworks = await networks.find(tx, (q) => q.where('external', '=', 0).orderBy('seq'));
  for (const network of internalNetworks)
    if (!usesPhysicalNetwork(network) && network.mtu > mtu && network.mtu <= DEFAULT_MTU)
      await networks.update(tx, { ...network, mtu, updatedAt: now });
}
