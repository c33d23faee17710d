import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest } from '../../errors/refusal.js';
import type { ServerGroup } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import type { NewServer } from './create-request.js';

/** Where a server may go. */
export interface PlacementPlan {
  /** The zone it stays in for good; null when none was asked for. */
  readonly zone: string | null;
  /** Only this host, by name or hypervisor name. */
  readonly host?: string;
  /** The host was named by somebody who overrules the scheduler. */
  readonly forced?: boolean;
  readonly group?: ServerGroup;
}

/** Decides where servers may go. Throws 400 for zones, hosts and groups that are not there. */
export async function planPlacement(core: Core, context: Context, request: NewServer): Promise<PlacementPlan> {
  const group = await groupOf(core, context, request.hints?.group);
  const parts = (request.zone ?? core.settings.defaultScheduleZone ?? '').split(':');
  if (parts.length > 3)
    throw badRequest('Unable to parse the availability zone: it is zone, zone:host or zone:host:node.');
  const [zone, host, node] = parts;
  const { hosts } = await core.infrastructure.hosts();
  if (host || node) {
    if (request.host || request.hypervisorHostname) {
      throw badRequest('A host is named twice: by the availability zone and by itself.');
    }
    const named = [...hosts.values()].find(
      (known) => (!host || known.name === host) && (!node || known.node.hypervisorHostname === node),
    );
    // A host that is not there is found out when nothing fits.
    return {
      zone: zone && named?.zone === zone ? zone : null,
      host: named?.name ?? `${host}:${node ?? ''}`,
      forced: true,
      group,
    };
  }
  if (zone && ![...hosts.values()].some((known) => known.zone === zone && !known.service.disabled)) {
    throw badRequest('The requested availability zone is not available');
  }
  return { zone: zone || null, host: requestedHost(request, [...hosts.values()]), group };
}

function requestedHost(
  { host, hypervisorHostname }: NewServer,
  hosts: readonly { readonly name: string; readonly node: { readonly hypervisorHostname: string } }[],
): string | undefined {
  if (host === undefined && hypervisorHostname === undefined) return undefined;
  const match = hosts.find(
    ({ name, node }) =>
      (host === undefined || name === host) &&
      (hypervisorHostname === undefined || node.hypervisorHostname === hypervisorHostname),
  );
  if (match) return match.name;
  throw badRequest(
    host === undefined
      ? `Hypervisor ${hypervisorHostname} could not be found.`
      : hypervisorHostname === undefined
        ? `Compute host ${host} could not be found.`
        : `Compute host ${host} with hypervisor ${hypervisorHostname} could not be found.`,
  );
}

async function groupOf({ store }: Core, { caller, isAdmin }: Context, hint: unknown): Promise<ServerGroup | undefined> {
  const ids = hint === undefined || hint === null ? [] : [hint].flat().map(String);
  const [id] = ids;
  if (id === undefined) return undefined;
  if (ids.length > 1) throw badRequest('A server can be a member of one server group only.');
  const group = await tables.serverGroups.get(store, id);
  if (!group || (group.projectId !== caller.projectId && !isAdmin)) {
    throw badRequest(`Instance group ${id} could not be found.`);
  }
  return group;
}
