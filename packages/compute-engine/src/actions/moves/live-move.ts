import type { MigrationStatus } from '../../model/index.js';
import { NoValidHost } from '../../scheduler/no-valid-host.js';
import { currentClaim, keepOnlyClaim } from '../../scheduler/server-claims.js';
import { movePortsAndVolumes } from '../../server-migrations/follow-server.js';
import { changeMigration, getMigration } from '../../server-migrations/migration-record.js';
import { failRun } from '../runner/fail-run.js';
import type { ServerRun } from '../runner/server-run.js';
import { PreCheckFailed } from './pre-check.js';

/** Arguments that all live migration jobs have in common. */
export interface LiveMoveArguments {
  readonly migrationId: string;
}

/** Completes a live migration whose memory has been copied. From then on, the destination host runs the server. */
export async function completeLiveMove(run: ServerRun<LiveMoveArguments>): Promise<void> {
  const { core } = run;
  const { id, destHost, destNode } = await getMigration(core, run.arguments.migrationId);
  run.enter('live_migration_post');
  await run.update({ host: destHost, node: destNode }, async (tx) => {
    await changeMigration(tx, core, id, { status: 'post-migrating' });
    return undefined;
  });
  run.enter('live_migration_post_dest');
  await movePortsAndVolumes(run);
  await run.perform({ verb: 'live_migration_finish', destHost: destHost ?? '' }, 'migrating');
  await run.finish({}, async (tx, server) => {
    await changeMigration(tx, core, id, { status: 'completed' });
    return keepOnlyClaim(
      tx,
      server,
      server.claims.findLast(({ host }) => host === destHost),
    );
  });
}

/** Ends a failed live migration. The server stays on its source host. */
export async function rollBackLiveMove(
  run: ServerRun<LiveMoveArguments>,
  error: Error,
  status: MigrationStatus,
): Promise<void> {
  await movePortsAndVolumes(run).catch(() => {});
  if (!(error instanceof NoValidHost || error instanceof PreCheckFailed)) {
    run.enter('live_migration_rollback');
    run.endStep();
  }
  await failRun(run, 'unchanged', error, {}, async (tx, server) => {
    await changeMigration(tx, run.core, run.arguments.migrationId, { status });
    return keepOnlyClaim(tx, server, currentClaim(server));
  });
}
