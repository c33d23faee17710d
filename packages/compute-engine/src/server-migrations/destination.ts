import type { Tx } from '@apistrata/record-store';
import type { Core } from '../core/core.js';
import type { Claim, FlavorCopy, Server } from '../model/index.js';
import { requiredAmounts } from '../scheduler/amounts.js';
import { forceClaim } from '../scheduler/claims.js';
import type { Host, HostMap } from '../scheduler/infrastructure.js';
import { NoValidHost } from '../scheduler/no-valid-host.js';
import { selectAndClaimHost } from '../scheduler/scheduler.js';
import { tables } from '../schema/tables.js';
import { serverContentOf } from '../servers/volumes/root-disk.js';

/** Constraints on the destination host of a server that moves. */
export interface DestinationRequest {
  /** The flavor that the server has on the destination host. */
  readonly flavor: FlavorCopy;
  /** Host name or hypervisor name of the only acceptable host. */
  readonly host?: string;
  readonly exclude?: readonly string[];
  /** Whether `host` is used without the scheduler, even if its capacity is insufficient. */
  readonly force?: boolean;
}

/** A destination host on which capacity was claimed for a server. */
export interface Destination {
  readonly host: string;
  readonly node: string;
  readonly claim: Claim;
}

/** Returns the host with the given host name or hypervisor name. */
export function findHostByName(map: HostMap, name: string): Host | undefined {
  return map.hosts.get(name) ?? [...map.hosts.values()].find(({ node }) => node.hypervisorHostname === name);
}

/**
 * Selects a host for a server that moves, and claims its capacity in the same transaction.
 *
 * @throws {@link NoValidHost}
 */
export async function claimDestination(
  tx: Tx,
  core: Core,
  map: HostMap,
  server: Server,
  request: DestinationRequest,
): Promise<Destination> {
  const amounts = requiredAmounts(request.flavor, serverContentOf(server));
  const toDestination = ({ name, node }: Host): Destination => ({
    host: name,
    node: node.hypervisorHostname,
    claim: { host: name, ...amounts },
  });
  if (request.force && request.host !== undefined) {
    const host = findHostByName(map, request.host);
    if (!host) throw new NoValidHost({ requested: map.hosts.size });
    const forcedDestination = toDestination(host);
    // The host may have been deleted since `map` was read.
    if (!(await forceClaim(tx, forcedDestination.claim))) throw new NoValidHost({ requested: map.hosts.size });
    return forcedDestination;
  }
  const group = server.groupId ? await tables.serverGroups.get(tx, server.groupId) : undefined;
  const selectedHost = await selectAndClaimHost(tx, core.infrastructure, map, {
    serverId: server.id,
    flavor: request.flavor,
    imageProperties: server.imageProperties,
    amounts,
    zone: server.pinnedZone,
    host: request.host,
    excludeHosts: request.exclude,
    hints: server.schedulerHints,
    group,
  });
  return toDestination(selectedHost);
}
