import { notFound } from '../../errors/refusal.js';
import type { Server, ServerShare } from '../../model/index.js';
import { Superseded } from '../runner/superseded.js';

/** What the work on a share knows. */
export interface ShareArguments {
  /** Id of the tie between server and share. */
  readonly id: string;
  readonly shareId: string;
}

/** The server's share with that id; 404 when there is none. */
export function findShare(server: Server, shareId: string): ServerShare {
  const share = server.shares.find((one) => one.shareId === shareId);
  if (!share) throw notFound(`Share ${shareId} is not attached to instance ${server.id}.`);
  return share;
}

/** The tie with that id; throws `Superseded` when the server has it no more. */
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
