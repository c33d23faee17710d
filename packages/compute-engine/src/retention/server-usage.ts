import type { New, Stored } from '@apistrata/record-store';
import type { Server } from '../model/index.js';

/** The fields of a server that usage reports contain. */
export type UsedServer = Pick<Server, 'id' | 'projectId' | 'name' | 'vmState' | 'launchedAt' | 'terminatedAt'> & {
  readonly flavor: Pick<Server['flavor'], 'name' | 'vcpus' | 'memoryMb' | 'diskGb' | 'ephemeralGb'>;
};

/** A server that was launched; it may have been deleted or purged. */
export type LaunchedServer = UsedServer & { readonly launchedAt: number };

/** The record that remains of a purged server: its usage and host. */
export interface PurgedServer extends UsedServer, Stored {
  readonly host: string | null;
}

/** Returns the usage record of a server that is being purged; undefined if it was never launched. */
export function createUsageRecord(server: Server): New<PurgedServer> | undefined {
  const { id, projectId, name, vmState, launchedAt, terminatedAt, host, flavor } = server;
  if (launchedAt === null) return undefined;
  const { vcpus, memoryMb, diskGb, ephemeralGb } = flavor;
  const usedFlavor = { name: flavor.name, vcpus, memoryMb, diskGb, ephemeralGb };
  return { id, projectId, name, vmState, launchedAt, terminatedAt, host, flavor: usedFlavor };
}
