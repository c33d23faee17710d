import type { HostTunnel } from '@apistrata/catalogs/builtin';
import type { Session } from '@apistrata/record-store';
import { tables } from '../schema/tables.js';

/** Returns the tunnels of the hosts whose networks are connected to other hosts. */
export async function hostTunnels(session: Session): Promise<readonly HostTunnel[]> {
  const nodes = await tables.nodes.find(session, (q) => q.orderBy('host'));
  return nodes.flatMap(({ hostIp, process }) =>
    process?.tunnelPort === undefined ? [] : [{ address: hostIp, encrypted: process.wireguard !== undefined }],
  );
}
