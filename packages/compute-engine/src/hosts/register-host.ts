import { fitIntoTunnels } from '@apistrata/catalogs/builtin';
import type { Store } from '@apistrata/record-store';
import type { DriverOffer, HostProcess, HostReport } from '../model/index.js';
import type { HostSeed } from '../preset/preset.js';
import { nodeRecord } from '../scheduler/host-records.js';
import { COMPUTE_BINARY } from '../scheduler/infrastructure.js';
import { recordHeartbeat } from '../scheduler/record-heartbeat.js';
import { tables } from '../schema/tables.js';
import { completeEvacuations, evacuationsFrom, OPEN_EVACUATIONS } from '../server-migrations/evacuations.js';
import { recordReport } from './record-report.js';
import { tunnelAddresses } from './tunnel-addresses.js';

/** The registration of a host process. */
export interface HostRegistration {
  readonly seed: HostSeed;
  /** Additional inventories, traits and capabilities of the driver. */
  readonly offer?: DriverOffer | undefined;
  readonly address: string;
  readonly process: HostProcess;
  readonly now: number;
  /** What the driver reports about the computer; undefined: nothing new. */
  readonly report?: HostReport | undefined;
  /**
   * Ids of the evacuations whose servers have no resources on this host anymore, after it started or was down: its node
   * is updated. Undefined: a heartbeat.
   */
  readonly removed: readonly string[] | undefined;
}

/**
 * Registers a host, or records its heartbeat. Service and node are created again if an administrator has deleted them.
 *
 * @returns false, without a heartbeat, if a server was evacuated whose resources the host has not removed. A heartbeat
 * that was delayed, for example by a lost connection, must not bring the host up before that.
 */
export async function registerHost(store: Store, host: HostRegistration): Promise<boolean> {
  const { seed, offer, address, process, now, report, removed } = host;
  const { name } = seed;
  return store.transaction(async (tx) => {
    const evacuations = await evacuationsFrom(tx, [name], OPEN_EVACUATIONS);
    if (evacuations.some(({ id }) => !removed?.includes(id))) return false;
    await recordHeartbeat(tx, name, COMPUTE_BINARY, now);
    const [node] = await tables.nodes.find(tx, (q) => q.where('host', '=', name));
    if (node && !removed) return true;
    if (process.tunnelPort !== undefined) await fitIntoTunnels(tx, await tunnelAddresses(tx), address, now);
    const fresh = { ...nodeRecord(seed, address, now, offer), process };
    const { id: _id, createdAt: _createdAt, ...current } = fresh;
    if (node) await tables.nodes.update(tx, { ...node, ...current });
    else await tables.nodes.insert(tx, fresh);
    if (removed) await completeEvacuations(tx, [name], now);
    if (report) await recordReport(tx, name, report, now);
    return true;
  });
}
