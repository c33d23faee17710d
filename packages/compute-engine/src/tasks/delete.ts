import { followServer } from '../migrations/follow-server.js';
import { endMigrations } from '../migrations/migration-record.js';
import { releasePorts } from '../ports/server-ports.js';
import { keepClaim, ownClaim } from '../scheduler/server-claims.js';
import { releaseShares } from '../shares/share-access.js';
import { releaseVolumes } from '../volumes/server-volumes.js';
import { failTask, type Task } from './task.js';
import type { TaskRun } from './task-run.js';

async function dropShelvedImage({ core, context, server: { shelvedImageId } }: TaskRun): Promise<void> {
  if (shelvedImageId) await core.catalogs.images.delete(context.caller, shelvedImageId).catch(() => {});
}

/** What a deleted server keeps: its record, and nothing of anybody else. */
async function end(run: TaskRun): Promise<void> {
  const { server } = run;
  // On a host that is down nothing can be done, and the record went at once.
  if (server.host && !server.deleted) await run.perform({ verb: 'destroy' }, 'deleting', 'compute_terminate_instance');
  await releasePorts(run, server.interfaces);
  await releaseVolumes(run, server.blockDevices);
  await releaseShares(run);
  await dropShelvedImage(run);
  const now = run.core.clock.now();
  await run.finish(
    {
      vmState: 'deleted',
      powerState: 0,
      deleted: true,
      terminatedAt: now,
      interfaces: [],
      claims: [],
      tags: [],
      host: server.host,
      progress: 0,
    },
    async (tx, current) => {
      await endMigrations(tx, run.core, current.id);
      return keepClaim(tx, current, undefined);
    },
  );
}

/** One whose record went at once stays deleted, whatever could not be given back. */
function removal(action: 'delete' | 'forceDelete'): Task {
  return {
    action,
    run: end,
    fail: (run, error) =>
      run.server.deleted
        ? run.finish({ claims: [] }, (tx, current) => keepClaim(tx, current, undefined))
        : failTask(run, action, error),
  };
}

/** Removes a server and all that was made for it. */
export const deleteTask = removal('delete');

/** The same, for servers that wait to be restored and for impatient owners. */
export const forceDeleteTask = removal('forceDelete');

/** Puts a server aside until it is restored or reclaimed. */
export const softDeleteTask: Task = {
  action: 'softDelete',
  run: async (run) => {
    await run.perform({ verb: 'soft_delete' }, 'soft-deleting', 'compute_soft_delete_instance');
    await dropShelvedImage(run);
    await followServer(run);
    // Whatever was being done to it is over; what is left is one server of one flavor in one place.
    await run.finish(
      {
        vmState: 'soft-delete',
        powerState: 4,
        setAsideAt: run.core.clock.now(),
        shelvedImageId: null,
        oldFlavor: null,
        newFlavor: undefined,
      },
      async (tx, server) => {
        await endMigrations(tx, run.core, server.id);
        return keepClaim(tx, server, ownClaim(server));
      },
    );
  },
};
