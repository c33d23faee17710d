import type { Session, Tx } from '../../store/database.js';
import { tables } from '../../store/tables.js';
import { networkTables } from './network-tables.js';

const { networks } = networkTables;

/** What is between computers carries packets of so many bytes, unless somebody has seen to more. */
const USUAL_MTU = 1_500;

/** What a tunnel adds to each packet: IP, UDP, VXLAN and the frame inside. IP of version 6 has 20 bytes more. */
const TUNNEL_BYTES = { 4: 50, 6: 70 } as const;

function roomInTunnels(address: string): number {
  return USUAL_MTU - TUNNEL_BYTES[address.includes(':') ? 6 : 4];
}

/** The largest packets that tunnels between the hosts there are carry; that of a wire where there are none. */
async function roomNow(session: Session): Promise<number> {
  const nodes = await tables.nodes.find(session, (q) => q.orderBy('host'));
  const rooms = nodes.flatMap(({ hostIp, process }) =>
    process?.tunnelPort === undefined ? [] : [roomInTunnels(hostIp)],
  );
  return Math.min(USUAL_MTU, ...rooms);
}

/** The MTU of a network whose maker has not said any. External ones pass no tunnel. */
export async function usualMtu(session: Session, external = false): Promise<number> {
  return external ? USUAL_MTU : roomNow(session);
}

/**
 * A host joins whose networks meet those of others by tunnels: networks get an MTU that leaves room for what tunnels add. Those that
 * somebody has given a larger one than a usual wire carries keep it, for whoever did that has seen to it.
 */
export async function fitIntoTunnels(tx: Tx, address: string, now: number): Promise<void> {
  const mtu = roomInTunnels(address);
  if ((await roomNow(tx)) <= mtu) return;
  const inside = await networks.find(tx, (q) => q.where('external', '=', 0).orderBy('seq'));
  for (const network of inside)
    if (network.mtu > mtu && network.mtu <= USUAL_MTU) await networks.update(tx, { ...network, mtu, updatedAt: now });
}
