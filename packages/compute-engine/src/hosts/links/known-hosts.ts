import type { Store } from '@apistrata/record-store';
import type { Clock } from '../../clock/clock.js';
import type { KnownHost } from '../../drivers/host-links.js';
import { COMPUTE_BINARY } from '../../scheduler/infrastructure.js';
import { tables } from '../../schema/tables.js';

/** Returns a function that lists all hosts that are separate processes. */
export function createHostFinder(store: Store, clock: Clock, downSeconds: number) {
  return async (): Promise<readonly KnownHost[]> => {
    const [nodes, services] = await Promise.all([
      tables.nodes.find(store, (q) => q.orderBy('host')),
      tables.services.find(store, (q) => q.where('binary_name', '=', COMPUTE_BINARY)),
    ]);
    const oldestHeartbeat = clock.now() - downSeconds * 1000;
    const liveHostNames = new Set(
      services
        .filter(({ forcedDown, lastSeenAt }) => !forcedDown && lastSeenAt !== null && lastSeenAt >= oldestHeartbeat)
        .map(({ host }) => host),
    );
    return nodes.flatMap(({ host, hostIp, process }): readonly KnownHost[] => {
      if (process === null) return [];
      const { tunnelPort = null, wireguard = null } = process;
      return [{ name: host, address: hostIp, alive: liveHostNames.has(host), tunnelPort, wireguard }];
    });
  };
}
