import type { ShareAccessType } from '../catalogs/index.js';
import type { Server, ServerShare } from '../model/index.js';
import { tables } from '../store/tables.js';
import { unlessRefused } from './attached-volume.js';
import { Superseded, type TaskRun } from './task-run.js';

/** Protocols a server can mount, and how a host is let in. */
export const shareProtocols: Readonly<Record<string, ShareAccessType>> = { NFS: 'ip', CEPHFS: 'cephx' };

/** The name under which hosts use a share that knows clients by name. */
const CEPHX_CLIENT = 'nova';

/** The share with that id; throws `Superseded` when the server has it no more. */
export function shareOf(server: Server, id: string): ServerShare {
  const share = server.shares.find((one) => one.id === id);
  if (!share) throw new Superseded(`${server.id} has no share ${id} any more`);
  return share;
}

/** The server's shares with one of them changed. */
export function withShare(server: Server, id: string, change: Partial<ServerShare>): Pick<Server, 'shares'> {
  const changed = { ...shareOf(server, id), ...change };
  return { shares: server.shares.map((one) => (one.id === id ? changed : one)) };
}

async function clientOf(run: TaskRun, shareId: string): Promise<{ type: ShareAccessType; to: string } | undefined> {
  const share = await unlessRefused(run.core.catalogs.shares.get(run.context.caller, shareId));
  if (!share) return undefined;
  const type = shareProtocols[share.protocol] ?? 'ip';
  const { hosts } = await run.core.infrastructure.hosts();
  return { type, to: type === 'cephx' ? CEPHX_CLIENT : (hosts.get(run.server.host ?? '')?.node.hostIp ?? '') };
}

/** Keeps the share from being deleted and lets the server's host in. May be repeated. */
export async function openShare(run: TaskRun, shareId: string): Promise<void> {
  const { shares } = run.core.catalogs;
  const { caller } = run.context;
  const client = await clientOf(run, shareId);
  if (!client) throw new Error(`Share ${shareId} could not be found.`);
  await shares.lock(caller, shareId, run.server.id);
  const { state } = await shares.allowAccess(caller, shareId, { ...client, level: 'rw' });
  if (state === 'error') throw new Error(`Share ${shareId} does not let ${client.to} in.`);
}

/** Ends what `openShare` began. The host keeps its access while another server on it uses the share. */
export async function closeShare(run: TaskRun, shareId: string): Promise<void> {
  const { shares } = run.core.catalogs;
  const { caller } = run.context;
  const { host, id } = run.server;
  const neighbours = host
    ? await tables.servers.find(run.core.store, (q) => q.where('host', '=', host).where('deleted', '=', 0))
    : [];
  const shared = neighbours.some((other) => other.id !== id && other.shares.some((one) => one.shareId === shareId));
  const client = shared ? undefined : await clientOf(run, shareId);
  if (client) await unlessRefused(shares.denyAccess(caller, shareId, client.type, client.to));
  await unlessRefused(shares.unlock(caller, shareId, id));
}

/** Gives back all shares of a server that is being deleted. */
export async function releaseShares(run: TaskRun): Promise<void> {
  for (const { shareId } of run.server.shares) await closeShare(run, shareId);
}
