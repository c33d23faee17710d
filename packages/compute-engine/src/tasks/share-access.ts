import type { Server, ServerShare } from '../model/index.js';
import { Superseded } from './task-run.js';

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
