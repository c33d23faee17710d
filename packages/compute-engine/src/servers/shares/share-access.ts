import { type ShareAccessType, unlessRefused } from '@apistrata/catalogs';
import type { ServerScope } from '../../core/core.js';
import { LIVE, tables } from '../../schema/tables.js';

/** Protocols a server can mount, and how a host is let in. */
export const shareProtocols: Readonly<Record<string, ShareAccessType>> = { NFS: 'ip', CEPHFS: 'cephx' };

/** The name under which hosts use a share that knows clients by name. */
const CEPHX_CLIENT = 'nova';

async function clientOf(
  { core, context, server }: ServerScope,
  shareId: string,
): Promise<{ type: ShareAccessType; to: string } | undefined> {
  const share = await unlessRefused(core.catalogs.shares.get(context.caller, shareId));
  if (!share) return undefined;
  const type = shareProtocols[share.protocol] ?? 'ip';
  const { hosts } = await core.infrastructure.hosts();
  return { type, to: type === 'cephx' ? CEPHX_CLIENT : (hosts.get(server.host ?? '')?.node.hostIp ?? '') };
}

/** Keeps the share from being deleted and lets the server's host in. May be repeated. */
export async function openShare(scope: ServerScope, shareId: string): Promise<void> {
  const { shares } = scope.core.catalogs;
  const { caller } = scope.context;
  const client = await clientOf(scope, shareId);
  if (!client) throw new Error(`Share ${shareId} could not be found.`);
  await shares.lock(caller, shareId, scope.server.id);
  const { state } = await shares.allowAccess(caller, shareId, { ...client, level: 'rw' });
  if (state === 'error') throw new Error(`Share ${shareId} does not let ${client.to} in.`);
}

/** Ends what `openShare` began. The host keeps its access while another server on it uses the share. */
export async function closeShare(scope: ServerScope, shareId: string): Promise<void> {
  const { shares } = scope.core.catalogs;
  const { caller } = scope.context;
  const { host, id } = scope.server;
  const neighbours = host
    ? await tables.servers.find(scope.core.store, (q) => q.where('host', '=', host).where(LIVE))
    : [];
  const shared = neighbours.some((other) => other.id !== id && other.shares.some((one) => one.shareId === shareId));
  const client = shared ? undefined : await clientOf(scope, shareId);
  if (client) await unlessRefused(shares.denyAccess(caller, shareId, client.type, client.to));
  await unlessRefused(shares.unlock(caller, shareId, id));
}

/** Gives back all shares of a server that is being deleted. */
export async function releaseShares(scope: ServerScope): Promise<void> {
  for (const { shareId } of scope.server.shares) await closeShare(scope, shareId);
}
