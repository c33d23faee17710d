import type { DriverWork } from '../drivers/driver.js';
import type { Server } from '../model/index.js';

/** Returns the host on which a command is executed: the server's own, unless a move needs the other one. */
export function executingHost(work: DriverWork, server: Server): string | null {
  switch (work.verb) {
    case 'live_migration_prepare':
      return work.destHost;
    case 'confirm_migration':
      return work.sourceHost || server.host;
    default:
      return server.host;
  }
}
