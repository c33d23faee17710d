import { currentClaim, keepOnlyClaim } from '../../scheduler/server-claims.js';
import { changeMigration, getMigration } from '../../server-migrations/migration-record.js';
import { checkHostUp } from '../hosts.js';
import { action } from '../runner/action.js';
import { failRun } from '../runner/fail-run.js';
import { beginConfirmOrRevert } from './confirm-or-revert.js';

/** Confirms a resize or cold migration, and removes the server's remaining resources from the source host. */
export const confirmResize = action({
  name: 'confirmResize',
  vmStates: ['resized'],
  lock: true,
  during: ['resize_confirming'],
  history: 'confirmResize',
  notifies: 'resize_confirm',
  onFailure: 'error',
  begin: async (scope) => {
    await checkHostUp(scope.core, scope.server);
    return beginConfirmOrRevert(scope, 'confirming');
  },
  run: async (run) => {
    const { id, sourceHost } = await getMigration(run.core, run.arguments.migrationId);
    await run.perform(
      { verb: 'confirm_migration', sourceHost: sourceHost ?? '' },
      'resize_confirming',
      'compute_confirm_resize',
    );
    const vmState = run.server.powerState === 4 ? 'stopped' : 'active';
    await run.finish({ vmState, oldFlavor: null }, async (tx, server) => {
      await changeMigration(tx, run.core, id, { status: 'confirmed' });
      return keepOnlyClaim(tx, server, currentClaim(server));
    });
  },
  fail: (run, error) =>
    failRun(run, 'error', error, { oldFlavor: null }, async (tx, server) => {
      await changeMigration(tx, run.core, run.arguments.migrationId, { status: 'error' });
      return keepOnlyClaim(tx, server, currentClaim(server));
    }),
});
