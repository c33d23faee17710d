import type { Session, Tx } from '@apistrata/record-store';
import { isPhysical } from '../provider-segment.js';
import { networkTables } from './network-tables.js';

const { networks } = networkTables;

/** MTU of the connections between hosts, unless an administrator has configured a larger one. */
const DEFAULT_MTU = 1_500;

/** Overhead of a tunnel per packet: IP, UDP, VXLAN and the inner frame. IPv6 needs 20 more bytes. */
const TUNNEL_BYTES = { 4: 50, 6: 70 } as const;

function tunnelMtu(address: string): number {
  return DEFAULT_MTU - TUNNEL_BYTES[address.includes(':') ? 6 : 4];
}

/** Returns the MTU of tunnels to these addresses; without tunnels, that of Ethernet. */
function mtuOver(addresses: readonly string[]): number {
  return Math.min(DEFAULT_MTU, ...addresses.map(tunnelMtu));
}

/** Returns the default MTU of a new network. External and physical networks use no tunnels. */
export async function defaultMtu(
  { tunnelAddresses }: { readonly tunnelAddresses: (session: Session) => Promise<readonly string[]> },
  session: Session,
  outside = false,
): Promise<number> {
  return outside ? DEFAULT_MTU : mtuOver(await tunnelAddresses(session));
}

/**
 * Lowers the MTU of networks when a host joins whose networks are connected by tunnels. Networks whose MTU exceeds that
 * of Ethernet keep it, because it was set explicitly.
 *
 * @param knownNames addresses of the hosts that had joined before
 */
export async function lowerMtuForTunnels(
  tx: Tx,
  knownNames: readonly string[],
  address: string,
  now: number,
): Promise<void> {
  const mtu = tunnelMtu(address);
  if (mtuOver(knownNames) <= mtu) return;
  const inside = await networks.find(tx, (q) => q.where('external', '=', 0).orderBy('seq'));
  for (const network of inside)
    if (!isPhysical(network) && network.mtu > mtu && network.mtu <= DEFAULT_MTU)
      await networks.update(tx, { ...network, mtu, updatedAt: now });
}
