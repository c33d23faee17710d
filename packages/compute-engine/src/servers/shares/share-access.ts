import { ignoreRejection, type ShareAccessType } from '@apistrata/catalogs';
import type { ServerScope } from '../../core/core.js';
import { LIVE_SERVERS, tables } from '../../schema/tables.js';

/** The share protocols that servers can mount, with the type of access rule that each protocol requires. */
export const shareProtocols: Readonly<Record<string, ShareAccessType>> = { NFS: 'ip', CEPHFS: 'cephx' };

/** The CephX client name that all hosts use. */
const CEPHX_CLIENT = 'nova';

async function findShareClient(
  { core, context, server }: ServerScope,
  shareId: string,
): Promise<{ type: ShareAccessType; to: string } | undefined> {
  const share = await ignoreRejection(core.catalogs.shares.get(context.caller, shareId));
  if (!share) return undefined;
  const type = shareProtocols[share.protocol] ?? 'ip';
  const { hosts } = await core.infrastructure.hosts();
  return { type, to: type === 'cephx' ? CEPHX_CLIENT : (hosts.get(server.host ?? '')?.node.hostIp ?? '') };
}

/** Locks a share against deletion and grants the server's host access to it. Idempotent. */
export async function grantShareAccess(scope: ServerScope, shareId: string): Promise<void> {
  const { shares } = scope.core.catalogs;
  const { caller } = scope.context;
  const client = await findShareClient(scope, shareId);
  if (!client) throw new Error(`Share ${shareId} could not be found.`);
  await shares.lock(caller, shareId, scope.server.id);
  const { state } = await shares.allowAccess(caller, shareId, { ...client, level: 'rw' });
  if (state === 'error') throw new Error(`The access rule of share ${shareId} for ${client.to} could not be applied.`);
}

/**
 * Unlocks a share and revokes the access of the server's host. The host keeps its access if another server on it uses
 * the share.
 */
export async function revokeShareAccess(scope: ServerScope, shareId: string): Promise<void> {
  const { shares } = scope.core.catalogs;
  const { caller } = scope.context;
  const { host, id } = scope.server;
  const serversOnHost = host
    ? await tables.servers.find(scope.core.store, (q) => q.where('host', '=', host).where(LIVE_SERVERS))
    : [];
  const isUsedByOthers = serversOnHost.some(
    (other) => other.id !== id && other.shares.some((one) => one.shareId === shareId),
  );
  const client = isUsedByOthers ? undefined : await findShareClient(scope, shareId);
  if (client) await ignoreRejection(shares.denyAccess(caller, shareId, client.type, client.to));
  await ignoreRejection(shares.unlock(caller, shareId, id));
}

/** Releases all shares of a server that is being deleted. */
export async function releaseShares(scope: ServerScope): Promise<void> {
  for (const { shareId } of scope.server.shares) await revokeShareAccess(scope, shareId);
}
