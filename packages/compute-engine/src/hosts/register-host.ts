import { fitIntoTunnels } from '@apistrata/catalogs/builtin';
import type { Store } from '@apistrata/record-store';
import type { HostProcess } from '../model/index.js';
import type { HostSeed } from '../preset/preset.js';
import { nodeRecord } from '../scheduler/host-records.js';
import { COMPUTE_BINARY } from '../scheduler/infrastructure.js';
import { signOfLife } from '../scheduler/sign-of-life.js';
import { tables } from '../schema/tables.js';
import { completeEvacuations } from '../server-migrations/evacuations.js';
import { tunnelAddresses } from './tunnel-addresses.js';

/** What is made known of a host that is a process of its own. */
export interface HostRegistration {
  readonly seed: HostSeed;
  readonly address: string;
  readonly process: HostProcess;
  readonly now: number;
  /** It has just come up: its node is as it says now, and nothing is left of servers that were evacuated. */
  readonly started: boolean;
}

/** Makes a host known, or tells that it lives. An administrator may have taken away service and node of one that does. */
export async function registerHost(store: Store, host: HostRegistration): Promise<void> {
  const { seed, address, process, now, started } = host;
  const { name } = seed;
  await store.transaction(async (tx) => {
    await signOfLife(tx, name, COMPUTE_BINARY, now);
    const [node] = await tables.nodes.find(tx, (q) => q.where('host', '=', name));
    if (node && !started) return;
    if (process.tunnelPort !== undefined) await fitIntoTunnels(tx, await tunnelAddresses(tx), address, now);
    const fresh = { ...nodeRecord(seed, address, now), process };
    const { id: _id, createdAt: _createdAt, ...current } = fresh;
    if (node) await tables.nodes.update(tx, { ...node, ...current });
    else await tables.nodes.insert(tx, fresh);
    if (started) await completeEvacuations(tx, [name], now);
  });
}
