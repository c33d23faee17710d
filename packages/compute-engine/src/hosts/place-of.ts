import type { DriverWork } from '../drivers/driver.js';
import type { Server } from '../model/index.js';

/** The host on which work takes place: the server's own, except where a move has to do something on the other one. */
export function placeOf(work: DriverWork, server: Server): string | null {
  switch (work.verb) {
    case 'live_migration_prepare':
      return work.destHost;
    case 'confirm_migration':
      return work.sourceHost || server.host;
    default:
      return server.host;
  }
}
