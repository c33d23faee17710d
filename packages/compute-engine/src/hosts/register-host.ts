import { fitIntoTunnels } from '@apistrata/catalogs/builtin';
import type { Store } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { DriverOffer, HostProcess, HostReport } from '../model/index.js';
import type { HostSeed } from '../preset/preset.js';
import { createNodeRecord } from '../scheduler/host-records.js';
import { COMPUTE_BINARY } from '../scheduler/infrastructure.js';
import { recordHeartbeat } from '../scheduler/record-heartbeat.js';
import { tables } from '../schema/tables.js';
import {
  completeEvacuations,
  findEvacuationsFrom,
  OPEN_EVACUATION_STATUSES,
} from '../server-migrations/evacuations.js';
import { hostTunnels } from './host-tunnels.js';
import { recordReport } from './record-report.js';

/** The registration of a host process. */
export interface HostRegistration {
  readonly seed: HostSeed;
  /** Additional inventories, traits and capabilities from the driver. */
  readonly offer?: DriverOffer | undefined;
  readonly address: string;
  readonly process: HostProcess;
  readonly now: number;
  /** The driver's report about the computer; undefined if there is no new report. */
  readonly report?: HostReport | undefined;
  /**
   * Ids of the evacuations whose servers have no resources on this host anymore. Set for the first heartbeat after the
   * host started or was down, which also updates the node; undefined for other heartbeats.
   */
  readonly removed: readonly string[] | undefined;
}

/** Returns since when a host stores volumes. */
function volumeStart(
  process: HostProcess,
  previous: HostProcess | null | undefined,
  now: number,
): Pick<HostProcess, 'keepsVolumesSince'> {
  if (!process.keepsVolumes) return {};
  return { keepsVolumesSince: previous?.keepsVolumes ? (previous.keepsVolumesSince ?? 0) : now };
}

/**
 * Registers a host, or records its heartbeat and whether it fences its machines. If an administrator has deleted the
 * host's service or node, creates it again.
 *
 * @returns false, without recording a heartbeat, if the host has not removed the resources of an evacuated server. A
 * heartbeat that was delayed, for example by a lost connection, must not mark the host as up before the removal.
 */
export async function registerHost(store: Store, host: HostRegistration): Promise<boolean> {
  const { seed, offer, address, process, now, report, removed: removedEvacuations } = host;
  const { name } = seed;
  return store.transaction(async (tx) => {
    const evacuations = await findEvacuationsFrom(tx, [name], OPEN_EVACUATION_STATUSES);
    if (evacuations.some(({ id }) => !removedEvacuations?.includes(id))) return false;
    await recordHeartbeat(tx, name, COMPUTE_BINARY, now);
    const [node] = await tables.nodes.find(tx, (q) => q.where('host', '=', name));
    if (node && !removedEvacuations) {
      const { fences: _, ...processWithoutFence } = node.process ?? process;
      const fences = process.fences === true;
      if ((node.process?.fences === true) !== fences)
        await tables.nodes.update(tx, { ...node, process: { ...processWithoutFence, ...(fences && { fences }) } });
      return true;
    }
    if (process.tunnelPort !== undefined)
      await fitIntoTunnels(tx, await hostTunnels(tx), { address, encrypted: process.wireguard !== undefined }, now);
    const newNode = {
      ...createNodeRecord(seed, address, now, offer),
      process: { ...process, ...volumeStart(process, node?.process, now) },
    };
    const { id: _id, createdAt: _createdAt, ...nodeFields } = newNode;
    if (node) await tables.nodes.update(tx, { ...node, ...nodeFields });
    else await tables.nodes.insert(tx, newNode);
    if (removedEvacuations) await completeEvacuations(tx, [name], now);
    if (report) await recordReport(tx, name, report, now);
    return true;
  });
}

/**
 * Records that the machines of a host are no longer fenced, because its process is stopping and they continue to run.
 * @returns false, without a change, if another process is now the host
 */
export async function withdrawFence(store: Store, name: string, owner: string): Promise<boolean> {
  return store.transaction(async (tx) => {
    const { rows } = await sql`
      select 1 from host_holds where host = ${name} and owner = ${owner} for update`.execute(tx.db);
    if (rows.length === 0) return false;
    const [node] = await tables.nodes.find(tx, (q) => q.where('host', '=', name));
    if (!node?.process?.fences) return true;
    const { fences: _, ...process } = node.process;
    await tables.nodes.update(tx, { ...node, process });
    return true;
  });
}
