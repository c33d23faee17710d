import type { ServerScope } from '../core/core.js';
import type { Server } from '../model/index.js';
import { tables } from '../schema/tables.js';

/** Moves a server's ports and volumes to its current host. Idempotent. */
export async function movePortsAndVolumes({ server, core, context }: ServerScope): Promise<void> {
  const host = server.host ?? '';
  if (server.interfaces.length > 0) await core.catalogs.networks.movePorts(context.caller, server.id, host);
  for (const { attachmentId, device } of server.blockDevices) {
    if (!attachmentId) continue;
    await core.catalogs.volumes.connect(context.caller, attachmentId, { host, mountpoint: device });
    await core.catalogs.volumes.complete(context.caller, attachmentId);
  }
}

/**
 * Moves a server's ports and volumes to its current host after another job has taken over the server. Other services
 * may have handled the last request of this job after the requests of the other job.
 */
export async function movePortsAndVolumesToCurrentHost({ server: { id }, core, context }: ServerScope): Promise<void> {
  const readCurrentServer = async (): Promise<Server | undefined> => {
    const server = await tables.servers.get(core.store, id);
    return server?.deleted || server?.taskState === 'deleting' ? undefined : server;
  };
  let server = await readCurrentServer();
  while (server) {
    await movePortsAndVolumes({ server, core, context });
    const { host } = server;
    server = await readCurrentServer();
    if (server?.host === host) return;
  }
}
