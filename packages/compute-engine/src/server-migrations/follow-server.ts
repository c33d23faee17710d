import type { ServerScope } from '../core/core.js';
import type { Server } from '../model/index.js';
import { tables } from '../schema/tables.js';

/** Moves a server's ports and volumes to its current host. Idempotent. Volumes may be detached concurrently. */
export async function movePortsAndVolumes(scope: ServerScope): Promise<void> {
  const { server, core, context } = scope;
  const host = server.host ?? '';
  if (server.interfaces.length > 0) await core.catalogs.networks.movePorts(context.caller, server.id, host);
  for (const { attachmentId, device } of server.blockDevices) {
    if (!attachmentId) continue;
    try {
      await core.catalogs.volumes.connect(context.caller, attachmentId, { host, mountpoint: device });
      await core.catalogs.volumes.complete(context.caller, attachmentId);
    } catch (error) {
      if (await isRecorded(scope, attachmentId)) throw error;
    }
  }
}

/** Returns whether the server record contains a volume attachment. */
async function isRecorded({ core, server: { id } }: ServerScope, attachmentId: string): Promise<boolean> {
  const server = await tables.servers.get(core.store, id);
  return server?.blockDevices.some((device) => device.attachmentId === attachmentId) ?? false;
}

/**
 * Moves a server's ports and volumes to its current host after another job has taken over the server. Other services
 * may have executed the last request of the superseded job after the requests of the new job.
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
