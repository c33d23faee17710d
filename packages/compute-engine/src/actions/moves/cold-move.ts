import type { FlavorCopy, MigrationStatus, ServerPatch } from '../../model/index.js';
import { NoValidHost } from '../../scheduler/no-valid-host.js';
import { currentClaim, keepOnlyClaim } from '../../scheduler/server-claims.js';
import { claimDestination } from '../../server-migrations/destination.js';
import { movePortsAndVolumes } from '../../server-migrations/follow-server.js';
import { changeMigration, getMigration, lockMigration } from '../../server-migrations/migration-record.js';
import { failRun } from '../runner/fail-run.js';
import type { AdditionalWrite, ServerRun } from '../runner/server-run.js';

/** Arguments of the job that performs a resize or a cold migration. */
export interface MoveArguments {
  readonly migrationId: string;
  readonly flavor: FlavorCopy;
  /** Name of the destination host that the request specifies. */
  readonly host?: string;
}

/** The task states of a server during a resize or cold migration, in order. */
export const MOVE_TASK_STATES = ['resize_prep', 'resize_migrating', 'resize_migrated', 'resize_finish'] as const;

/** Returns a write that updates the migration status in the transaction that changes the server. */
function writeStatus(run: ServerRun<MoveArguments>, status: MigrationStatus): AdditionalWrite {
  return async (tx) => {
    await changeMigration(tx, run.core, run.arguments.migrationId, { status });
    return undefined;
  };
}

/**
 * Selects a destination host and claims its capacity. A resize selects the server's current host if no other host is
 * valid.
 */
async function claimMoveDestination(run: ServerRun<MoveArguments>): Promise<void> {
  const { flavor, host, migrationId } = run.arguments;
  const { core } = run;
  const map = await core.infrastructure.hosts();
  await run.update({}, async (tx, server) => {
    const migration = await lockMigration(tx, migrationId);
    const { destHost, sourceHost } = migration;
    if (destHost !== null) return undefined;
    if (sourceHost === null) throw new Error(`Migration ${migrationId} has no host to move from.`);
    const otherHost = core.machines.canMove(server)
      ? claimDestination(tx, core, map, server, { flavor, host, exclude: [sourceHost] })
      : Promise.reject(new NoValidHost({ cannotMove: map.hosts.size - 1 }));
    const destination = await otherHost.catch((error) => {
      if (migration.type !== 'resize' || !(error instanceof NoValidHost)) throw error;
      return claimDestination(tx, core, map, server, { flavor, host: sourceHost });
    });
    await changeMigration(tx, core, migration.id, { destHost: destination.host, destNode: destination.node });
    return { claims: [...server.claims, destination.claim] };
  });
}

/** Performs a resize or a cold migration. Afterwards, a client must confirm or revert the move. */
export async function moveServer(run: ServerRun<MoveArguments>): Promise<void> {
  const { core } = run;
  const { flavor, migrationId } = run.arguments;
  const migration = () => getMigration(core, migrationId);
  if ((await migration()).status !== 'post-migrating') {
    await run.step('conductor_migrate_server', () => claimMoveDestination(run));
    const { destHost, destNode } = await migration();
    if (!destHost) throw new Error(`Migration ${migrationId} has no host to move to.`);
    run.enter('resize_prep');
    await run.passThrough(['resize_prep']);
    run.endStep();
    run.enter('resize');
    await run.update({ taskState: 'resize_migrating' }, writeStatus(run, 'migrating'));
    await run.perform({ verb: 'migrate_disk', destHost, flavor }, 'resize_migrating', 'compute_resize_instance');
    const movedServer = { host: destHost, node: destNode, flavor, oldFlavor: run.server.flavor, newFlavor: null };
    await run.update({ ...movedServer, taskState: 'resize_migrated' }, writeStatus(run, 'post-migrating'));
    run.endStep();
  }
  await run.passThrough(['resize_migrated']);
  run.enter('resize_finish');
  await movePortsAndVolumes(run);
  const powerOn = run.server.wasRunning;
  const { sourceHost } = await migration();
  await run.perform(
    { verb: 'finish_migration', flavor, powerOn, sourceHost: sourceHost ?? '' },
    'resize_finish',
    'compute_finish_resize',
  );
  await run.finish(
    { vmState: 'resized', powerState: powerOn ? 1 : 4, launchedAt: core.clock.now() },
    writeStatus(run, 'finished'),
  );
}

/** Sets a server to ERROR on its current host after a resize or cold migration has failed. */
export async function failMove(run: ServerRun<MoveArguments>, error: Error): Promise<void> {
  await movePortsAndVolumes(run).catch(() => {});
  // If no host was valid, the server was not changed, so it keeps its state.
  const patch: ServerPatch = error instanceof NoValidHost ? { vmState: run.server.vmState } : {};
  await failRun(run, 'error', error, { oldFlavor: null, newFlavor: null, ...patch }, async (tx, server) => {
    await changeMigration(tx, run.core, run.arguments.migrationId, { status: 'error' });
    return keepOnlyClaim(tx, server, currentClaim(server));
  });
}
