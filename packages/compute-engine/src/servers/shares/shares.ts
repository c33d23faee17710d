import { findShare } from '../../actions/shares/attached-share.js';
import type { Server, ServerShare } from '../../model/index.js';

/**
 * Returns the current status of a server's share. A share is active while the machine is on, because a machine mounts
 * its shares when it starts.
 */
export function shareStatusOf(server: Server, { status }: ServerShare): ServerShare['status'] {
  if (status !== 'inactive' && status !== 'active') return status;
  return server.powerState === 1 || server.powerState === 3 ? 'active' : 'inactive';
}

/** Finds the shares of servers. The actions `attachShare` and `detachShare` add and remove shares. */
export class Shares {
  /** Returns a share of a server. Throws 404 if the share is not attached to the server. */
  find(server: Server, shareId: string): ServerShare {
    return findShare(server, shareId);
  }
}
