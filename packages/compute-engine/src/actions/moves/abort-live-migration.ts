import type { MigrationStatus } from '../../model/index.js';
import { currentClaim, keepOnlyClaim } from '../../scheduler/server-claims.js';
import { changeMigration, getMigration } from '../../server-migrations/migration-record.js';
import { action } from '../runner/action.js';
import { beginAbortOrComplete } from './abort-or-complete.js';
import { completeLiveMove, rollBackLiveMove } from './live-move.js';

/** A request to abort a live migration. */
export interface LiveMigrationAbortion {
  /** The integer id of the migration, as the string in the request path. */
  readonly migrationNumber: string;
  /** Migration statuses in which the request is allowed. */
  readonly statuses: readonly MigrationStatus[];
}

/** Aborts a live migration, so that the server stays on its source host. */
export const abortLiveMigration = action({
  name: 'live_migration_cancel',
  taskStates: ['migrating'],
  lock: true,
  during: [],
  history: 'live_migration_cancel',
  notifies: 'live_migration_abort',
  nameInMessages: 'abort live migration',
  onFailure: 'unchanged',
  begin: (scope, { migrationNumber, statuses }: LiveMigrationAbortion) =>
    beginAbortOrComplete(scope, migrationNumber, statuses),
  run: async (run) => {
    const { id, destHost } = await getMigration(run.core, run.arguments.migrationId);
    try {
      await run.perform(
        { verb: 'live_migration_abort', destHost: destHost ?? '' },
        undefined,
        'compute_live_migration_abort',
      );
    } catch (error) {
      if ((error as { code?: string }).code !== 'MOVE_COMPLETED') throw error;
      run.endStep();
      return completeLiveMove(run);
    }
    run.endStep();
    run.enter('live_migration_rollback');
    await run.finish({}, async (tx, server) => {
      await changeMigration(tx, run.core, id, { status: 'cancelled' });
      return keepOnlyClaim(tx, server, currentClaim(server));
    });
  },
  fail: (run, error) => rollBackLiveMove(run, error, 'error'),
});
