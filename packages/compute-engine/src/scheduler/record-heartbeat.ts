import { lockName, type Tx } from '@apistrata/record-store';
import { tables } from '../schema/tables.js';
import { createServiceRecord } from './host-records.js';

/** Records the heartbeat of a service outside the API processes; the first heartbeat registers it. */
export async function recordHeartbeat(tx: Tx, host: string, binary: string, now: number): Promise<void> {
  await lockName(tx, `service:${host}`);
  const heartbeatFields = { embedded: false, lastSeenAt: now };
  const [service] = await tables.services.find(tx, (q) => q.where('host', '=', host).where('binary_name', '=', binary));
  if (service) await tables.services.update(tx, { ...service, ...heartbeatFields });
  else await tables.services.insert(tx, { ...createServiceRecord(host, binary, now), ...heartbeatFields });
}
