import type { Session, Tx } from '@apistrata/record-store';
import type { Context } from '../core/context.js';
import { notFound } from '../errors/refusal.js';
import type { Server } from '../model/index.js';
import { tables } from '../schema/tables.js';

/** Which servers are to be seen beyond the caller's own. */
export interface ServerVisibility {
  readonly deleted?: boolean;
  readonly foreign?: boolean;
}

const missing = (id: string) => notFound(`Instance ${id} could not be found.`);

/** Throws the 404 that hides a server of another project, or a deleted one. */
export function checkVisible(server: Server, context: Context, { deleted, foreign }: ServerVisibility): void {
  const visible = context.isAdmin || foreign || server.projectId === context.caller.projectId;
  if (!visible || (server.deleted && !deleted)) throw missing(server.id);
}

/**
 * A server of the caller's project, or anybody's for administrators; deleted ones, and other projects', only when asked
 * for. 404 otherwise.
 */
export async function findServer(
  session: Session,
  context: Context,
  id: string,
  visibility: ServerVisibility = {},
): Promise<Server> {
  const server = await tables.servers.get(session, id);
  if (!server) throw missing(id);
  checkVisible(server, context, visibility);
  return server;
}

/** A server that nobody else changes until the transaction ends; 404 when it is gone. */
export async function lockServer(tx: Tx, id: string): Promise<Server> {
  const server = await tables.servers.lock(tx, id);
  if (!server || server.deleted) throw missing(id);
  return server;
}
