import { fitIntoTunnels } from '@apistrata/catalogs/builtin';
import type { Store } from '@apistrata/record-store';
import type { DriverOffer, HostProcess } from '../model/index.js';
import type { HostSeed } from '../preset/preset.js';
import { nodeRecord } from '../scheduler/host-records.js';
import { COMPUTE_BINARY } from '../scheduler/infrastructure.js';
import { recordHeartbeat } from '../scheduler/record-heartbeat.js';
import { tables } from '../schema/tables.js';
import { completeEvacuations } from '../server-migrations/evacuations.js';
import { tunnelAddresses } from './tunnel-addresses.js';

/** The registration of a host process. */
export interface HostRegistration {
  readonly seed: HostSeed;
  /** Additional inventories, traits and capabilities of the driver. */
  readonly offer?: DriverOffer | undefined;
  readonly address: string;
  readonly process: HostProcess;
  readonly now: number;
  /** The host has just started: its node is updated, and resources of evacuated servers have been removed. */
  readonly started: boolean;
}

/**
 * Registers a host, or records its heartbeat. Service and node are created again if an administrator has deleted them.
 */
export async function registerHost(store: Store, host: HostRegistration): Promise<void> {
  const { seed, offer, address, process, now, started } = host;
  const { name } = seed;
  await store.transaction(async (tx) => {
    await recordHeartbeat(tx, name, COMPUTE_BINARY, now);
    const [node] = await tables.nodes.find(tx, (q) => q.where('host', '=', name));
    if (node && !started) return;
    if (process.tunnelPort !== undefined) await fitIntoTunnels(tx, await tunnelAddresses(tx), address, now);
    const fresh = { ...nodeRecord(seed, address, now, offer), process };
    const { id: _id, createdAt: _createdAt, ...current } = fresh;
    if (node) await tables.nodes.update(tx, { ...node, ...current });
    else await tables.nodes.insert(tx, fresh);
    if (started) await completeEvacuations(tx, [name], now);
  });
}
