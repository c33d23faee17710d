import type { ServerScope } from '../../core/core.js';
import { badRequest, conflict } from '../../errors/rejection.js';
import type { ServerPatch } from '../../model/index.js';
import { currentClaim, keepOnlyClaim } from '../../scheduler/server-claims.js';
import { claimDestination } from '../../server-migrations/destination.js';
import { movePortsAndVolumes } from '../../server-migrations/follow-server.js';
import { resolveRequestedHost } from '../hosts.js';
import { action } from '../runner/action.js';
import { failRun } from '../runner/fail-run.js';
import type { ServerRun } from '../runner/server-run.js';

/** A request to unshelve a server. */
export interface UnshelveRequest {
  /** The availability zone to which to pin the server. Null unpins the server. Default: unchanged. */
  readonly zone?: string | null;
  readonly host?: string;
}

/** Arguments of the unshelve job. */
export interface UnshelveArguments {
  readonly host?: string;
}

async function checkVolumes({ core, context, server }: ServerScope, zone: string): Promise<void> {
  if (core.settings.crossZoneAttach) return;
  for (const { volumeId } of server.blockDevices) {
    const volume = volumeId ? await core.catalogs.volumes.getVolume(context.caller, volumeId) : undefined;
    if (volume && volume.availabilityZone !== zone)
      throw conflict(`Volume ${volume.id} is in zone ${volume.availabilityZone}, not in ${zone}.`);
  }
}

async function selectNewHost(run: ServerRun<UnshelveArguments>): Promise<void> {
  const { host } = run.arguments;
  const { core } = run;
  const map = await core.infrastructure.hosts();
  await run.update({ taskState: 'spawning' }, async (tx, server) => {
    if (server.host !== null) return undefined;
    const destination = await claimDestination(tx, core, map, server, { flavor: server.flavor, host });
    return { host: destination.host, node: destination.node, claims: [destination.claim] };
  });
}

/** Unshelves a server. If the server was offloaded, the scheduler selects a new host. */
export const unshelve = action({
  name: 'unshelve',
  vmStates: ['shelved', 'shelved_offloaded'],
  lock: true,
  during: ['unshelving', 'spawning'],
  history: 'unshelve',
  notifies: 'unshelve',
  onFailure: 'unchanged',
  begin: async (scope, request: UnshelveRequest) => {
    const { core, server } = scope;
    const { zone } = request;
    if ((zone !== undefined || request.host !== undefined) && server.vmState !== 'shelved_offloaded')
      throw conflict(
        `Specifying a zone or a host is only possible for a server that is shelved_offloaded; instance ${server.id} is ${server.vmState}.`,
      );
    const map = await core.infrastructure.hosts();
    if (typeof zone === 'string' && ![...map.hosts.values()].some((host) => host.zone === zone))
      throw badRequest(`The requested availability zone: ${zone} is not available`);
    const host = await resolveRequestedHost(core, request.host, (name) =>
      badRequest(`Compute host ${name} could not be found.`),
    );
    const pinnedZone = zone === undefined ? server.pinnedZone : zone;
    if (host && pinnedZone !== null && host.zone !== pinnedZone)
      throw conflict(`Host ${host.name} is in zone ${host.zone}, but the server must be in zone ${pinnedZone}.`);
    if (typeof zone === 'string') await checkVolumes(scope, zone);
    const args: UnshelveArguments = { host: host?.name };
    return { arguments: args, change: () => ({ pinnedZone }) };
  },
  run: async (run) => {
    const { shelvedImageId } = run.server;
    if (run.server.vmState === 'shelved_offloaded') {
      await run.step('conductor_unshelve_server', () => selectNewHost(run));
      await movePortsAndVolumes(run);
      await run.perform({ verb: 'unshelve', imageId: shelvedImageId }, 'spawning', 'compute_unshelve_instance');
    } else {
      await run.perform({ verb: 'power_on' }, 'unshelving', 'compute_start_instance');
    }
    const { images } = run.core.catalogs;
    if (shelvedImageId) await images.delete(run.context.caller, shelvedImageId).catch(() => {});
    await run.finish({
      vmState: 'active',
      powerState: 1,
      shelvedImageId: null,
      setAsideAt: null,
      launchedAt: run.core.clock.now(),
    });
  },
  fail: async (run, error) => {
    const isOffloaded = run.server.vmState === 'shelved_offloaded';
    if (isOffloaded && run.server.interfaces.length > 0)
      await run.core.catalogs.networks.movePorts(run.context.caller, run.server.id, '');
    const hostlessPatch: ServerPatch = isOffloaded ? { host: null, node: null, powerState: 4 } : {};
    await failRun(run, 'unchanged', error, hostlessPatch, (tx, server) =>
      keepOnlyClaim(tx, server, isOffloaded ? undefined : currentClaim(server)),
    );
  },
});
