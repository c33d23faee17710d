import { releaseVolumes } from './block-devices.js';
import { releaseClaims, releaseNetworks } from './build.js';
import type { Task } from './task.js';
import type { TaskRun } from './task-run.js';

/** What a deleted server keeps: its record, and nothing of anybody else. */
async function end(run: TaskRun): Promise<void> {
  const { server } = run;
  if (server.host) await run.perform({ verb: 'destroy' }, 'deleting', 'compute_terminate_instance');
  await releaseNetworks(run, server.interfaces);
  await releaseVolumes(run, server.blockDevices);
  if (server.shelvedImageId) {
    await run.core.catalogs.images.delete(run.context.caller, server.shelvedImageId).catch(() => {});
  }
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
    (tx, current) => releaseClaims(tx, current.claims),
  );
}

/** Removes a server and all that was made for it. */
export const deleteTask: Task = { action: 'delete', run: end };

/** The same, for servers that wait to be restored and for impatient owners. */
export const forceDeleteTask: Task = { action: 'forceDelete', run: end };

/** Puts a server aside until it is restored or reclaimed. */
export const softDeleteTask: Task = {
  action: 'softDelete',
  run: async (run) => {
    await run.perform({ verb: 'soft_delete' }, 'soft-deleting', 'compute_soft_delete_instance');
    await run.finish({ vmState: 'soft-delete', powerState: 4, terminatedAt: null });
  },
};
