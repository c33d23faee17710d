import { findShare } from '../../actions/shares/attached-share.js';
import type { Server, ServerShare } from '../../model/index.js';

/** Returns the current status of a share: a machine mounts its shares when it starts. */
export function shareStatusOf(server: Server, { status }: ServerShare): ServerShare['status'] {
  if (status !== 'inactive' && status !== 'active') return status;
  return server.powerState === 1 || server.powerState === 3 ? 'active' : 'inactive';
}

/** Shares of servers; the actions `attachShare` and `detachShare` add and remove them. */
export class Shares {
  /** Returns a share of a server; 404 if the server does not have it. */
  find(server: Server, shareId: string): ServerShare {
    return findShare(server, shareId);
  }
}
