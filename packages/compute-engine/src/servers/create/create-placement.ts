import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest } from '../../errors/rejection.js';
import type { ServerGroup } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import type { NewServer } from './create-request.js';

/** Constraints on the host of a new server. */
export interface PlacementPlan {
  /** The availability zone to which the server is pinned. Null if no zone was requested. */
  readonly zone: string | null;
  /** Host name or hypervisor name of the only acceptable host. */
  readonly host?: string;
  /** Whether `zone` in the request contains the host. If so, the scheduler applies only basic filters to it. */
  readonly forced?: boolean;
  readonly group?: ServerGroup;
}

/** Returns the constraints that a create request specifies. Throws 400 for unknown zones, hosts and server groups. */
export async function planPlacement(core: Core, context: Context, request: NewServer): Promise<PlacementPlan> {
  const group = await groupOf(core, context, request.hints?.group);
  const zoneParts = (request.zone ?? core.settings.defaultScheduleZone ?? '').split(':');
  if (zoneParts.length > 3)
    throw badRequest('Unable to parse the availability zone: it must be zone, zone:host or zone:host:node.');
  const [zone, host, node] = zoneParts;
  const { hosts } = await core.infrastructure.hosts();
  if (host || node) {
    if (request.host || request.hypervisorHostname) {
      throw badRequest('A host is specified twice: in the availability zone and in a separate field.');
    }
    const namedHost = [...hosts.values()].find(
      (candidate) => (!host || candidate.name === host) && (!node || candidate.node.hypervisorHostname === node),
    );
    // An unknown host is accepted here, because the scheduler reports it later.
    return {
      zone: zone && namedHost?.zone === zone ? zone : null,
      host: namedHost?.name ?? `${host}:${node ?? ''}`,
      forced: true,
      group,
    };
  }
  if (zone && ![...hosts.values()].some((candidate) => candidate.zone === zone && !candidate.service.disabled)) {
    throw badRequest('The requested availability zone is not available');
  }
  return { zone: zone || null, host: findRequestedHost(request, [...hosts.values()]), group };
}

function findRequestedHost(
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
  if (ids.length > 1) throw badRequest('A server can only be a member of one server group.');
  const group = await tables.serverGroups.get(store, id);
  if (!group || (group.projectId !== caller.projectId && !isAdmin)) {
    throw badRequest(`Instance group ${id} could not be found.`);
  }
  return group;
}
