import type { DriverWork } from '../drivers/driver.js';
import { transitionOf } from '../lifecycle/transitions.js';
import { claimDestination } from '../migrations/destination.js';
import { followServer } from '../migrations/follow-server.js';
import { changeMigration, type MigrationPatch } from '../migrations/migration-record.js';
import type { MigrationStatus, ServerPatch } from '../model/index.js';
import { NoValidHost } from '../scheduler/scheduler.js';
import { keepClaim, ownClaim } from '../scheduler/server-claims.js';
import { tables } from '../store/tables.js';
import { migrationOf } from './moves.js';
import { failTask, type Task } from './task.js';
import type { TaskRun } from './task-run.js';

/** What a live migration asks of its job. */
export interface LiveMigrationArguments {
  readonly migrationId: string;
  readonly host?: string;
  readonly force?: boolean;
}

const BYTES_PER_MIB = 1024 * 1024;

/** Says where a migration is; where the driver takes no time nobody could see it. */
async function show(run: TaskRun, status: MigrationStatus, work: DriverWork, more: MigrationPatch = {}): Promise<void> {
  const origin = { action: run.job.kind, requestId: run.context.requestId };
  if (run.core.driver.instantly?.(work, run.server, origin)) return;
  await run.update({ taskState: 'migrating' }, async (tx) => {
    await changeMigration(tx, run.core, run.arguments.migrationId, { status, ...more });
    return undefined;
  });
}

/** Finds a destination unless the request has found one already. */
async function reserve(run: TaskRun): Promise<string> {
  const migration = await migrationOf(run);
  if (migration.destHost) return migration.destHost;
  const { host, force } = run.arguments as LiveMigrationArguments;
  const { core } = run;
  const map = await core.infrastructure.hosts();
  let found = '';
  await run.update({}, async (tx, server): Promise<ServerPatch> => {
    const exclude = [migration.sourceHost!];
    if (host !== undefined && map.hosts.get(host)?.name === migration.sourceHost)
      throw new NoValidHost({ excluded: 1 });
    const wanted = { flavor: server.flavor, host, force, exclude };
    const destination = await claimDestination(tx, core, map, server, wanted);
    found = destination.host;
    await changeMigration(tx, core, migration.id, { destHost: destination.host, destNode: destination.node });
    return { claims: [...server.claims, destination.claim] };
  });
  return found;
}

/** The memory is on the other side: the server lives there now. */
async function arrive(run: TaskRun): Promise<void> {
  const { core } = run;
  const { id, destHost, destNode } = await migrationOf(run);
  await run.update({ host: destHost, node: destNode }, async (tx) => {
    await changeMigration(tx, core, id, { status: 'post-migrating' });
    return undefined;
  });
  await followServer(run);
  await run.perform({ verb: 'live_migration_finish', destHost: destHost! }, 'migrating');
  await run.finish({}, async (tx, server) => {
    await changeMigration(tx, core, id, { status: 'completed' });
    return keepClaim(
      tx,
      server,
      server.claims.findLast(({ host }) => host === destHost),
    );
  });
}

/** The move has ended where it began. */
async function stay(run: TaskRun, error: Error, status: MigrationStatus): Promise<void> {
  await followServer(run).catch(() => {});
  await failTask(run, 'os-migrateLive', error, {}, async (tx, server) => {
    await changeMigration(tx, run.core, run.arguments.migrationId, { status });
    return keepClaim(tx, server, ownClaim(server));
  });
}

/** Whether it was taken over by a request to complete it. */
async function isForced(run: TaskRun): Promise<boolean> {
  const actions = await tables.actions.find(run.core.store, (q) => q.where('server_id', '=', run.server.id));
  const own = actions.find(({ requestId }) => requestId === run.context.requestId);
  const { history } = transitionOf('live_migration_force_complete');
  return actions.some(({ action, seq }) => action === history && seq > (own?.seq ?? 0));
}

/** Moves a running server: queued, preparing, running, then there. */
export const liveMigrationTask: Task = {
  action: 'os-migrateLive',
  run: async (run) => {
    const destHost = await run.step('conductor_live_migrate_instance', () => reserve(run));
    if (run.server.host !== destHost) {
      const queue: DriverWork = { verb: 'live_migration_queue', destHost };
      await show(run, 'queued', queue);
      await run.perform(queue);
      const prepare: DriverWork = { verb: 'live_migration_prepare', destHost };
      await show(run, 'preparing', prepare);
      await run.perform(prepare, undefined, 'compute_pre_live_migration');
      const move: DriverWork = { verb: 'live_migration_run', destHost };
      const total = run.server.flavor.memoryMb * BYTES_PER_MIB;
      const half = Math.floor(total / 2);
      await show(run, 'running', move, {
        memoryTotalBytes: total,
        memoryProcessedBytes: half,
        memoryRemainingBytes: total - half,
      });
      await run.perform(move, undefined, 'compute_live_migration');
    }
    await arrive(run);
  },
  fail: (run, error) => stay(run, error, error instanceof NoValidHost ? 'error' : 'failed'),
  abandoned: async (run) => ((await isForced(run)) ? 'Success' : undefined),
};

/** Ends the memory copy at once, and with it the migration. */
export const forceCompleteTask: Task = {
  action: 'live_migration_force_complete',
  run: async (run) => {
    const { destHost } = await migrationOf(run);
    if (run.server.host !== destHost) {
      const work: DriverWork = { verb: 'live_migration_force_complete', destHost: destHost! };
      await run.perform(work, undefined, 'compute_live_migration_force_complete');
    }
    await arrive(run);
  },
  fail: (run, error) => stay(run, error, 'failed'),
};

/** Gives a live migration up: the server stays where it is. */
export const cancelTask: Task = {
  action: 'live_migration_cancel',
  run: async (run) => {
    const { id, destHost } = await migrationOf(run);
    await run.perform(
      { verb: 'live_migration_abort', destHost: destHost ?? '' },
      undefined,
      'compute_live_migration_abort',
    );
    await run.finish({}, async (tx, server) => {
      await changeMigration(tx, run.core, id, { status: 'cancelled' });
      return keepClaim(tx, server, ownClaim(server));
    });
  },
  fail: (run, error) => stay(run, error, 'error'),
};
