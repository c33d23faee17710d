import type { DriverWork } from '../drivers/driver.js';
import type { Server } from '../model/index.js';

/** Returns the host that executes a command: the server's host or, for some commands of a move, the other host. */
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
