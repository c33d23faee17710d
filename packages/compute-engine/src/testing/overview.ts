import type { Engine } from '../engine/engine.js';
import { coreOf } from '../engine/engine-core.js';
import type { Server, VmState } from '../model/index.js';
import { usageByHost } from '../scheduler/claims.js';
import { tables } from '../schema/tables.js';

/** A host, and the capacity that its servers use. Memory is in MiB. */
export interface HostOverview {
  readonly host: string;
  readonly servers: number;
  readonly vcpus: number;
  readonly vcpusUsed: number;
  readonly memoryMb: number;
  readonly memoryUsedMb: number;
}

/** A summary of a cloud's content in all projects. */
export interface Overview {
  /** Number of servers by state. */
  readonly counts: Readonly<Partial<Record<VmState, number>>>;
  /** The newest servers, in descending order of creation. */
  readonly servers: readonly Server[];
  readonly hosts: readonly HostOverview[];
}

/** Reads the data for a page about a small cloud. It counts all servers, so it is only for tests and trials. */
export async function overview(engine: Engine, options: { readonly servers: number }): Promise<Overview> {
  const { store } = coreOf(engine);
  const states = await store.db
    .selectFrom('servers')
    .select(['vm_state', ({ fn }) => fn.countAll().as('n')])
    .where('deleted', '=', 0)
    .groupBy('vm_state')
    .execute();
  const servers = await tables.servers.find(store, (q) =>
    q.where('deleted', '=', 0).orderBy('seq', 'desc').limit(options.servers),
  );
  const nodes = await tables.nodes.find(store, (q) => q.orderBy('seq'));
  const used = await usageByHost(store);
  return {
    counts: Object.fromEntries(states.map(({ vm_state, n }) => [vm_state, Number(n)])),
    servers,
    hosts: nodes.map(({ host, vcpus, memoryMb }) => {
      const usage = used.get(host);
      return {
        host,
        servers: usage?.servers ?? 0,
        vcpus,
        vcpusUsed: usage?.vcpus ?? 0,
        memoryMb,
        memoryUsedMb: usage?.memoryMb ?? 0,
      };
    }),
  };
}
