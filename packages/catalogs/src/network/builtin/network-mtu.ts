import type { Session, Tx } from '@apistrata/record-store';
import { networkTables } from './network-tables.js';

const { networks } = networkTables;

/** What is between computers carries packets of so many bytes, unless somebody has seen to more. */
const USUAL_MTU = 1_500;

/** What a tunnel adds to each packet: IP, UDP, VXLAN and the frame inside. IP of version 6 has 20 bytes more. */
const TUNNEL_BYTES = { 4: 50, 6: 70 } as const;

function roomInTunnels(address: string): number {
  return USUAL_MTU - TUNNEL_BYTES[address.includes(':') ? 6 : 4];
}

/** The largest packets that tunnels to these addresses carry; that of a wire where there are none. */
function roomOf(addresses: readonly string[]): number {
  return Math.min(USUAL_MTU, ...addresses.map(roomInTunnels));
}

/** Returns the MTU of a network that is created without one. External networks pass no tunnel. */
export async function usualMtu(
  { tunnelAddresses }: { readonly tunnelAddresses: (session: Session) => Promise<readonly string[]> },
  session: Session,
  external = false,
): Promise<number> {
  return external ? USUAL_MTU : roomOf(await tunnelAddresses(session));
}

/**
 * A host joins whose networks meet those of others by tunnels: networks get an MTU that leaves room for what tunnels add. Those that
 * somebody has given a larger one than a usual wire carries keep it, for whoever did that has seen to it.
 *
 * @param known addresses of the hosts that had joined before
 */
export async function fitIntoTunnels(tx: Tx, known: readonly string[], address: string, now: number): Promise<void> {
  const mtu = roomInTunnels(address);
  if (roomOf(known) <= mtu) return;
  const inside = await networks.find(tx, (q) => q.where('external', '=', 0).orderBy('seq'));
  for (const network of inside)
    if (network.mtu > mtu && network.mtu <= USUAL_MTU) await networks.update(tx, { ...network, mtu, updatedAt: now });
}
