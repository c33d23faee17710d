import type { DriverWork } from '../../drivers/driver.js';
import { getMigration } from '../../server-migrations/migration-record.js';
import { action } from '../runner/action.js';
import { beginEnd } from './end-live-migration.js';
import { arrive, stay } from './live-move.js';

/** Which live migration is to be completed. */
export interface ForceCompletion {
  /** Its number, as paths use it. */
  readonly number: string;
}

/** Ends the memory copy at once, and with it the migration. */
export const forceComplete = action({
  name: 'live_migration_force_complete',
  vm: ['active'],
  task: ['migrating'],
  lock: true,
  during: [],
  history: 'live_migration_force_complete',
  notifies: 'live_migration_force_complete',
  word: 'force_complete',
  onFailure: 'unchanged',
  begin: (scope, { number }: ForceCompletion) => beginEnd(scope, number, ['running']),
  run: async (run) => {
    const { destHost } = await getMigration(run.core, run.arguments.migrationId);
    if (run.server.host !== destHost) {
      const work: DriverWork = { verb: 'live_migration_force_complete', destHost: destHost ?? '' };
      await run.perform(work, undefined, 'compute_live_migration_force_complete');
    }
    run.leave();
    await arrive(run);
  },
  fail: (run, error) => stay(run, error, 'failed'),
});
