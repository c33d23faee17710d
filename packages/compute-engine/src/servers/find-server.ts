import type { Session, Tx } from '@apistrata/record-store';
import type { Context } from '../core/context.js';
import { notFound } from '../errors/rejection.js';
import type { Server } from '../model/index.js';
import { tables } from '../schema/tables.js';

/** Servers that are visible in addition to the existing servers of the caller's project. */
export interface ServerVisibility {
  readonly deleted?: boolean;
  /** Whether servers of other projects are visible. */
  readonly foreign?: boolean;
}

const serverNotFound = (id: string) => notFound(`Instance ${id} could not be found.`);

/**
 * Throws 404 for a deleted server or a server of another project, unless `visibility` or the administrator role makes
 * it visible.
 */
export function checkVisible(server: Server, context: Context, { deleted, foreign }: ServerVisibility): void {
  const isVisible = context.isAdmin || foreign || server.projectId === context.caller.projectId;
  if (!isVisible || (server.deleted && !deleted)) throw serverNotFound(server.id);
}

/**
 * Returns a server of the caller's project, or of any project for administrators. `visibility` can add deleted servers
 * and servers of other projects. Throws 404 if the server does not exist or is not visible.
 */
export async function findServer(
  session: Session,
  context: Context,
  id: string,
  visibility: ServerVisibility = {},
): Promise<Server> {
  const server = await tables.servers.get(session, id);
  if (!server) throw serverNotFound(id);
  checkVisible(server, context, visibility);
  return server;
}

/** Locks a server until the transaction ends, and returns it. Throws 404 if the server does not exist. */
export async function lockServer(tx: Tx, id: string): Promise<Server> {
  const server = await tables.servers.lock(tx, id);
  if (!server || server.deleted) throw serverNotFound(id);
  return server;
}
