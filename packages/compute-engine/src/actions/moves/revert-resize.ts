import { currentClaim, keepOnlyClaim } from '../../scheduler/server-claims.js';
import { movePortsAndVolumes } from '../../server-migrations/follow-server.js';
import { changeMigration, getMigration } from '../../server-migrations/migration-record.js';
import { action } from '../runner/action.js';
import { failRun } from '../runner/fail-run.js';
import { beginConfirmOrRevert } from './confirm-or-revert.js';

/** Reverts a resize or cold migration, so that the server returns to its old host and flavor. */
export const revertResize = action({
  name: 'revertResize',
  vmStates: ['resized'],
  lock: true,
  during: ['resize_reverting'],
  history: 'revertResize',
  notifies: { failed: 'resize_revert' },
  onFailure: 'error',
  begin: (scope) => beginConfirmOrRevert(scope, 'reverting'),
  run: async (run) => {
    const { core } = run;
    const { id, sourceHost, sourceNode } = await getMigration(core, run.arguments.migrationId);
    const { oldFlavor } = run.server;
    if (oldFlavor) {
      await run.perform(
        { verb: 'revert_migration', sourceHost: sourceHost ?? '' },
        'resize_reverting',
        'compute_revert_resize',
      );
      await run.update({ host: sourceHost, node: sourceNode, flavor: oldFlavor, oldFlavor: null }, (tx, server) =>
        keepOnlyClaim(
          tx,
          server,
          server.claims.find(({ host }) => host === sourceHost),
        ),
      );
    }
    run.enter('resize_revert');
    await movePortsAndVolumes(run);
    const powerOn = run.server.wasRunning;
    await run.perform(
      { verb: 'finish_migration', flavor: run.server.flavor, powerOn, sourceHost: run.server.host ?? '' },
      'resize_reverting',
      'compute_finish_revert_resize',
    );
    const vmState = powerOn ? 'active' : 'stopped';
    await run.finish({ vmState, powerState: powerOn ? 1 : 4, launchedAt: core.clock.now() }, async (tx) => {
      await changeMigration(tx, core, id, { status: 'reverted' });
      return undefined;
    });
  },
  fail: async (run, error) => {
    await movePortsAndVolumes(run).catch(() => {});
    await failRun(run, 'error', error, { oldFlavor: null }, async (tx, server) => {
      await changeMigration(tx, run.core, run.arguments.migrationId, { status: 'error' });
      return keepOnlyClaim(tx, server, currentClaim(server));
    });
  },
});
