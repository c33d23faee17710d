import type { Core } from '../../../core.js';
import type { Servers } from '../servers.js';
import { administrationActions } from './administration.js';
import { evacuateActions } from './evacuate.js';
import { liveMigrationActions } from './live-migrate.js';
import { rebuildActions } from './rebuild.js';
import { rescueActions } from './rescue.js';
import { resizeActions } from './resize.js';
import { snapshotActions } from './snapshot.js';
import { unshelveActions } from './unshelve.js';

/**
 * The actions that need more than one order to the machine. Each checks the lifecycle table first, then its own rules,
 * and resolves when the promise to do it is durable; refusals are those of the API (400, 403, 404, 409, 501).
 */
export function serverActions(core: Core, servers: Servers) {
  const scope = { core, servers };
  return {
    ...rebuildActions(scope),
    ...resizeActions(scope),
    ...liveMigrationActions(scope),
    ...evacuateActions(scope),
    ...rescueActions(scope),
    ...snapshotActions(scope),
    ...unshelveActions(scope),
    ...administrationActions(scope),
  };
}

export type ServerActions = ReturnType<typeof serverActions>;
