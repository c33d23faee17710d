import { rulesOf } from '../../actions/action-table.js';
import { changeServer } from '../../actions/runner/begin-action.js';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { conflict } from '../../errors/rejection.js';
import type { Server } from '../../model/index.js';
import type { HostMap } from '../../scheduler/infrastructure.js';
import { zoneOf } from '../../scheduler/zone-of.js';

/** Fields of a server that can be changed without involving its machine. Undefined fields stay unchanged. */
export type ServerChange = Partial<
  Pick<Server, 'name' | 'diskConfig' | 'accessIpV4' | 'accessIpV6' | 'description' | 'hostname' | 'pinnedZone'>
>;

/**
 * Throws 409 unless a server can be pinned to a zone. An unpinned server can only be pinned to its current zone, and a
 * pinned server only to the same zone again.
 */
function checkPinning(server: Server, zone: string, hosts: HostMap): void {
  if (server.pinnedZone === zone) return;
  if (server.pinnedZone !== null)
    throw conflict(
      'Cannot change pinned availability zone directly. Unpin first by setting pinned_availability_zone to null.',
    );
  const currentZone = zoneOf(server, hosts);
  if (currentZone !== zone)
    throw conflict(
      `Server can only be pinned to its current availability zone '${currentZone}', but '${zone}' was requested.`,
    );
}

export async function updateServer(core: Core, context: Context, id: string, change: ServerChange): Promise<Server> {
  const hosts = change.pinnedZone ? await core.infrastructure.hosts() : undefined;
  const changes = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return changeServer(core, rulesOf('update'), context, id, (server) => {
    if (hosts && change.pinnedZone) checkPinning(server, change.pinnedZone, hosts);
    return changes;
  });
}
