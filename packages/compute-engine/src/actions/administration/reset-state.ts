import { currentClaim, keepOnlyClaim } from '../../scheduler/server-claims.js';
import { movePortsAndVolumes } from '../../server-migrations/follow-server.js';
import { endMigrations } from '../../server-migrations/migration-record.js';
import type { Change } from '../runner/action.js';
import { action, type NoArguments } from '../runner/action.js';

/** A request to reset a server's `vm_state`. */
export interface StateReset {
  readonly state: 'active' | 'error';
}

/**
 * Sets a server's `vm_state` and ends the action in progress, whose job loses ownership of the server. The server stays
 * on its host.
 */
export const resetState = action({
  name: 'os-resetState',
  taskStates: 'any',
  lock: false,
  neverLaunched: true,
  during: [],
  history: 'resetState',
  notifies: null,
  onFailure: 'unchanged',
  begin: async ({ core }, { state }: StateReset) => {
    const noArguments: NoArguments = {};
    const change: Change = async (tx, server) => {
      await endMigrations(tx, core, server.id);
      const claims = await keepOnlyClaim(tx, server, currentClaim(server));
      return { ...claims, vmState: state, taskState: null, oldFlavor: null, newFlavor: null };
    };
    return { arguments: noArguments, change };
  },
  run: async (run) => {
    await movePortsAndVolumes(run).catch(() => {});
    await run.finish({});
  },
});
