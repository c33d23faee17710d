import { notFound } from '../../errors/rejection.js';
import type { Server, ServerShare } from '../../model/index.js';
import { Superseded } from '../runner/superseded.js';

/** Arguments of the jobs that attach and detach shares. */
export interface ShareArguments {
  /** Id of the share attachment. */
  readonly id: string;
  readonly shareId: string;
}

/** Returns the attachment of a share to a server. Throws a 404 error if the share is not attached. */
export function findShare(server: Server, shareId: string): ServerShare {
  const share = server.shares.find((candidate) => candidate.shareId === shareId);
  if (!share) throw notFound(`Share ${shareId} is not attached to instance ${server.id}.`);
  return share;
}

/** Returns the share attachment with the given id. Throws `Superseded` if the server no longer has this attachment. */
export function shareOf(server: Server, id: string): ServerShare {
  const share = server.shares.find((candidate) => candidate.id === id);
  if (!share) throw new Superseded(`server ${server.id} no longer has share ${id}`);
  return share;
}

/** Returns a server's share attachments with one of them changed. */
export function replaceShare(server: Server, id: string, change: Partial<ServerShare>): Pick<Server, 'shares'> {
  const changedShare = { ...shareOf(server, id), ...change };
  return { shares: server.shares.map((share) => (share.id === id ? changedShare : share)) };
}
