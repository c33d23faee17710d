import type { New, Stored } from '@apistrata/record-store';
import type { Server } from '../model/index.js';

/** What a report on usage tells of a server. */
export type UsedServer = Pick<Server, 'id' | 'projectId' | 'name' | 'vmState' | 'launchedAt' | 'terminatedAt'> & {
  readonly flavor: Pick<Server['flavor'], 'name' | 'vcpus' | 'memoryMb' | 'diskGb' | 'ephemeralGb'>;
};

/** One that was launched, whatever became of it. */
export type RunServer = UsedServer & { readonly launchedAt: number };

/** All that is left of a server that was purged: what it used, and where. */
export interface PurgedServer extends UsedServer, Stored {
  readonly host: string | null;
}

/** What is kept of a server that is purged; undefined when it never ran. */
export function usageOf(server: Server): New<PurgedServer> | undefined {
  const { id, projectId, name, vmState, launchedAt, terminatedAt, host, flavor } = server;
  if (launchedAt === null) return undefined;
  const { vcpus, memoryMb, diskGb, ephemeralGb } = flavor;
  const kept = { name: flavor.name, vcpus, memoryMb, diskGb, ephemeralGb };
  return { id, projectId, name, vmState, launchedAt, terminatedAt, host, flavor: kept };
}
