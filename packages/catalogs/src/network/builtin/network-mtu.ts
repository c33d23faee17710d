import type { Session, Tx } from '@apistrata/record-store';
import { isPhysical } from '../provider-segment.js';
import { networkTables } from './network-tables.js';

const { networks } = networkTables;

/** MTU of the connections between hosts, unless an administrator has configured a larger one. */
const DEFAULT_MTU = 1_500;

/** The end of the tunnels of a host. */
export interface HostTunnel {
  /** The IP address of the host. */
  readonly address: string;
  /** Whether WireGuard encrypts the tunnels. */
  readonly encrypted: boolean;
}

/** Overhead of a tunnel per packet: IP, UDP, VXLAN and the inner frame. IPv6 needs 20 more bytes. */
const TUNNEL_BYTES = { 4: 50, 6: 70 } as const;
/** WireGuard overhead per packet: IP, UDP, its header and its checksum. */
const ENCRYPTION_BYTES = { 4: 60, 6: 80 } as const;

function tunnelMtu({ address, encrypted }: HostTunnel): number {
  const family = address.includes(':') ? 6 : 4;
  // Encrypted tunnels always use IPv6 inside.
  return DEFAULT_MTU - (encrypted ? ENCRYPTION_BYTES[family] + TUNNEL_BYTES[6] : TUNNEL_BYTES[family]);
}

/** Returns the MTU of networks over these tunnels; without tunnels, the Ethernet MTU. */
function mtuOver(tunnels: readonly HostTunnel[]): number {
  return Math.min(DEFAULT_MTU, ...tunnels.map(tunnelMtu));
}

/** Returns the default MTU of a new network. External and physical networks use no tunnels. */
export async function defaultMtu(
  { hostTunnels }: { readonly hostTunnels: (session: Session) => Promise<readonly HostTunnel[]> },
  session: Session,
  outside = false,
): Promise<number> {
  return outside ? DEFAULT_MTU : mtuOver(await hostTunnels(session));
}

/**
 * Lowers the MTU of networks when a host with tunnels joins. Networks whose MTU exceeds the Ethernet MTU
 * keep it, because it was set explicitly.
 *
 * @param known the tunnels of the hosts that had joined before
 */
export async function lowerMtuForTunnels(
  tx: Tx,
  known: readonly HostTunnel[],
  tunnel: HostTunnel,
  now: number,
): Promise<void> {
  const mtu = tunnelMtu(tunnel);
  if (mtuOver(known) <= mtu) return;
  const inside = await networks.find(tx, (q) => q.where('external', '=', 0).orderBy('seq'));
  for (const network of inside)
    if (!isPhysical(network) && network.mtu > mtu && network.mtu <= DEFAULT_MTU)
      await networks.update(tx, { ...network, mtu, updatedAt: now });
}
