import type { DriverWork } from '../../drivers/driver.js';
import { getMigration } from '../../server-migrations/migration-record.js';
import { action } from '../runner/action.js';
import { beginAbortOrComplete } from './abort-or-complete.js';
import { completeLiveMove, rollBackLiveMove } from './live-move.js';

/** A request to force a live migration to complete. */
export interface ForceCompletion {
  /** The migration's integer id in request paths. */
  readonly migrationNumber: string;
}

/** Pauses a server so that its live migration can complete. */
export const forceComplete = action({
  name: 'live_migration_force_complete',
  vmStates: ['active'],
  taskStates: ['migrating'],
  lock: true,
  during: [],
  history: 'live_migration_force_complete',
  notifies: 'live_migration_force_complete',
  nameInMessages: 'force_complete',
  onFailure: 'unchanged',
  begin: (scope, { migrationNumber }: ForceCompletion) =>
    beginAbortOrComplete(scope, migrationNumber, ['running'], true),
  run: async (run) => {
    const { destHost } = await getMigration(run.core, run.arguments.migrationId);
    if (run.server.host !== destHost) {
      const work: DriverWork = { verb: 'live_migration_force_complete', destHost: destHost ?? '' };
      await run.perform(work, undefined, 'compute_live_migration_force_complete');
    }
    run.endStep();
    await completeLiveMove(run);
  },
  fail: (run, error) => rollBackLiveMove(run, error, 'failed'),
});
