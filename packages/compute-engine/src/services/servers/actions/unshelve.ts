import type { Context } from '../../../context.js';
import { badRequest, conflict } from '../../../errors.js';
import type { Server } from '../../../model/index.js';
import { type ActionScope, findHost } from './scope.js';

export interface UnshelveRequest {
  /** The zone it is pinned to from now on; null unpins it. Left out: as it was. */
  readonly zone?: string | null;
  readonly host?: string;
}

/** Bringing shelved servers back. */
export function unshelveActions({ core, servers }: ActionScope) {
  async function checkVolumes({ caller }: Context, server: Server, zone: string): Promise<void> {
    if (core.settings.crossZoneAttach) return;
    for (const { volumeId } of server.blockDevices) {
      const volume = volumeId ? await core.catalogs.volumes.getVolume(caller, volumeId) : undefined;
      if (volume && volume.availabilityZone !== zone)
        throw conflict(`Volume ${volume.id} is in zone ${volume.availabilityZone}, not in ${zone}.`);
    }
  }

  return {
    async unshelve(context: Context, id: string, wanted: UnshelveRequest = {}): Promise<void> {
      const server = await servers.ready(context, id, 'unshelve');
      const { zone } = wanted;
      if ((zone !== undefined || wanted.host !== undefined) && server.vmState !== 'shelved_offloaded')
        throw conflict(
          `Specifying a zone or a host is only possible for a server that is shelved_offloaded; instance ${id} is ${server.vmState}.`,
        );
      const map = await core.infrastructure.hosts();
      if (typeof zone === 'string' && ![...map.hosts.values()].some((known) => known.zone === zone))
        throw badRequest(`The requested availability zone: ${zone} is not available`);
      const host = wanted.host === undefined ? undefined : await findHost(core, wanted.host);
      if (wanted.host !== undefined && !host) throw badRequest(`Compute host ${wanted.host} could not be found.`);
      const pinnedZone = zone === undefined ? server.pinnedZone : zone;
      if (host && pinnedZone !== null && host.zone !== pinnedZone)
        throw conflict(`Host ${host.name} is in zone ${host.zone}, and the server is to be in ${pinnedZone}.`);
      if (typeof zone === 'string') await checkVolumes(context, server, zone);
      await servers.act(context, id, 'unshelve', { arguments: { host: host?.name }, patch: { pinnedZone } });
    },
  };
}
