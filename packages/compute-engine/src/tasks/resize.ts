import { transitionOf } from '../lifecycle/transitions.js';
import { claimDestination } from '../migrations/destination.js';
import { followServer } from '../migrations/follow-server.js';
import { changeMigration } from '../migrations/migration-record.js';
import type { FlavorCopy, MigrationRecord, MigrationStatus, ServerPatch } from '../model/index.js';
import { NoValidHost } from '../scheduler/scheduler.js';
import { keepClaim, ownClaim } from '../scheduler/server-claims.js';
import type { Tx } from '../store/database.js';
import { migrationOf } from './moves.js';
import { failTask, type Task } from './task.js';
import type { TaskRun } from './task-run.js';

/** What resize and migrate ask of their job. */
export interface ResizeArguments {
  readonly migrationId: string;
  readonly flavor: FlavorCopy;
  /** A host that was asked for. */
  readonly host?: string;
}

/** Finds a place: another host first; the same one only for a server that changes its flavor. */
async function reserve(run: TaskRun, migration: MigrationRecord): Promise<void> {
  if (migration.destHost) return;
  const { flavor, host } = run.arguments as ResizeArguments;
  const { core } = run;
  const map = await core.infrastructure.hosts();
  const source = migration.sourceHost!;
  await run.update({}, async (tx, server): Promise<ServerPatch> => {
    const elsewhere = claimDestination(tx, core, map, server, { flavor, host, exclude: [source] });
    const destination = await elsewhere.catch((error) => {
      if (migration.type !== 'resize' || !(error instanceof NoValidHost)) throw error;
      return claimDestination(tx, core, map, server, { flavor, host: source });
    });
    await changeMigration(tx, core, migration.id, { destHost: destination.host, destNode: destination.node });
    return { claims: [...server.claims, destination.claim] };
  });
}

/** Moves a server to another host, or gives it another flavor, and waits there for the owner's verdict. */
function moveTask(action: 'resize' | 'migrate'): Task {
  const [prepare, migrating, migrated, finishing] = transitionOf(action).during;
  return {
    action,
    run: async (run) => {
      const { flavor, migrationId } = run.arguments as ResizeArguments;
      const { core } = run;
      const show = (status: MigrationStatus) => async (tx: Tx) => {
        await changeMigration(tx, core, migrationId, { status });
        return undefined;
      };
      if ((await migrationOf(run)).status !== 'post-migrating') {
        await run.step('conductor_migrate_server', async () => reserve(run, await migrationOf(run)));
        const { destHost, destNode } = await migrationOf(run);
        await run.passThrough([prepare!]);
        await run.update({ taskState: migrating }, show('migrating'));
        const work = { verb: 'migrate_disk', destHost: destHost!, flavor } as const;
        await run.perform(work, migrating, 'compute_resize_instance');
        const there = { host: destHost, node: destNode, flavor, oldFlavor: run.server.flavor, newFlavor: undefined };
        await run.update({ ...there, taskState: migrated }, show('post-migrating'));
      }
      await run.passThrough([migrated!]);
      await followServer(run);
      const powerOn = run.server.wasRunning;
      await run.perform({ verb: 'finish_migration', flavor, powerOn }, finishing, 'compute_finish_resize');
      await run.finish(
        { vmState: 'resized', powerState: powerOn ? 1 : 4, launchedAt: core.clock.now() },
        show('finished'),
      );
    },
    fail: async (run, error) => {
      await followServer(run).catch(() => {});
      // Without a place to go to, nothing has happened to the server yet.
      const patch: ServerPatch = error instanceof NoValidHost ? { vmState: run.server.vmState } : {};
      await failTask(run, action, error, { oldFlavor: null, newFlavor: undefined, ...patch }, async (tx, server) => {
        await changeMigration(tx, run.core, run.arguments.migrationId, { status: 'error' });
        return keepClaim(tx, server, ownClaim(server));
      });
    },
  };
}

export const resizeTask = moveTask('resize');
export const migrateTask = moveTask('migrate');

/** Ends a move for good: what is left on the source goes. */
export const confirmResizeTask: Task = {
  action: 'confirmResize',
  run: async (run) => {
    const { id, sourceHost } = await migrationOf(run);
    await run.perform(
      { verb: 'confirm_migration', sourceHost: sourceHost! },
      'resize_confirming',
      'compute_confirm_resize',
    );
    await run.finish(
      { vmState: run.server.powerState === 4 ? 'stopped' : 'active', oldFlavor: null },
      async (tx, server) => {
        await changeMigration(tx, run.core, id, { status: 'confirmed' });
        return keepClaim(tx, server, ownClaim(server));
      },
    );
  },
  fail: (run, error) =>
    failTask(run, 'confirmResize', error, { oldFlavor: null }, async (tx, server) => {
      await changeMigration(tx, run.core, run.arguments.migrationId, { status: 'error' });
      return keepClaim(tx, server, ownClaim(server));
    }),
};

/** Undoes a move: back to the old host and flavor. */
export const revertResizeTask: Task = {
  action: 'revertResize',
  run: async (run) => {
    const { id, sourceHost, sourceNode } = await migrationOf(run);
    const back = run.server.oldFlavor;
    if (back) {
      await run.perform(
        { verb: 'revert_migration', sourceHost: sourceHost! },
        'resize_reverting',
        'compute_revert_resize',
      );
      await run.update({ host: sourceHost, node: sourceNode, flavor: back, oldFlavor: null }, (tx, server) =>
        keepClaim(
          tx,
          server,
          server.claims.find(({ host }) => host === sourceHost),
        ),
      );
    }
    await followServer(run);
    const powerOn = run.server.wasRunning;
    await run.perform(
      { verb: 'finish_migration', flavor: run.server.flavor, powerOn },
      'resize_reverting',
      'compute_finish_revert_resize',
    );
    await run.finish(
      {
        vmState: powerOn ? 'active' : 'stopped',
        powerState: powerOn ? 1 : 4,
        launchedAt: run.core.clock.now(),
      },
      async (tx) => {
        await changeMigration(tx, run.core, id, { status: 'reverted' });
        return undefined;
      },
    );
  },
  fail: async (run, error) => {
    await followServer(run).catch(() => {});
    await failTask(run, 'revertResize', error, { oldFlavor: null }, async (tx, server) => {
      await changeMigration(tx, run.core, run.arguments.migrationId, { status: 'error' });
      return keepClaim(tx, server, ownClaim(server));
    });
  },
};
