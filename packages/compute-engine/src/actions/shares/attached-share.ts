import { notFound } from '../../errors/rejection.js';
import type { Server, ServerShare } from '../../model/index.js';
import { Superseded } from '../runner/superseded.js';

/** Arguments of jobs on shares. */
export interface ShareArguments {
  /** Id of the attachment. */
  readonly id: string;
  readonly shareId: string;
}

/** Returns the server's share with an id; 404 if there is none. */
export function findShare(server: Server, shareId: string): ServerShare {
  const share = server.shares.find((one) => one.shareId === shareId);
  if (!share) throw notFound(`Share ${shareId} is not attached to instance ${server.id}.`);
  return share;
}

/** Returns the attachment with an id; throws `Superseded` if the server no longer has it. */
export function shareOf(server: Server, id: string): ServerShare {
  const share = server.shares.find((one) => one.id === id);
  if (!share) throw new Superseded(`${server.id} no longer has share ${id}`);
  return share;
}

/** Returns the server's shares with one of them changed. */
export function withShare(server: Server, id: string, change: Partial<ServerShare>): Pick<Server, 'shares'> {
  const changed = { ...shareOf(server, id), ...change };
  return { shares: server.shares.map((one) => (one.id === id ? changed : one)) };
}
