import type { ServerScope } from '../core/core.js';

/** Moves ports and volumes to the server's current host. Idempotent. */
export async function followServer({ server, core, context }: ServerScope): Promise<void> {
  const host = server.host ?? '';
  if (server.interfaces.length > 0) await core.catalogs.networks.movePorts(context.caller, server.id, host);
  for (const { attachmentId, device } of server.blockDevices) {
    if (!attachmentId) continue;
    await core.catalogs.volumes.connect(context.caller, attachmentId, { host, mountpoint: device });
    await core.catalogs.volumes.complete(context.caller, attachmentId);
  }
}
