import type { Session } from '@apistrata/record-store';
import { tables } from '../schema/tables.js';

/** Returns the addresses of the hosts whose networks are joined by tunnels. */
export async function tunnelAddresses(session: Session): Promise<readonly string[]> {
  const nodes = await tables.nodes.find(session, (q) => q.orderBy('host'));
  return nodes.flatMap(({ hostIp, process }) => (process?.tunnelPort === undefined ? [] : [hostIp]));
}
