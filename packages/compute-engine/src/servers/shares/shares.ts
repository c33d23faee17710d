import { findShare } from '../../actions/shares/attached-share.js';
import type { Server, ServerShare } from '../../model/index.js';

/** What a share of a server is now: a machine mounts its shares when it is started. */
export function shareStatusOf(server: Server, { status }: ServerShare): ServerShare['status'] {
  if (status !== 'inactive' && status !== 'active') return status;
  return server.powerState === 1 || server.powerState === 3 ? 'active' : 'inactive';
}

/** Shares that servers mount; they come and go by the actions `attachShare` and `detachShare`. */
export class Shares {
  /** 404 when the server does not have it. */
  find(server: Server, shareId: string): ServerShare {
    return findShare(server, shareId);
  }
}
