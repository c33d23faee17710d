import { claimDestination } from '../migrations/destination.js';
import { followServer } from '../migrations/follow-server.js';
import type { PowerState, ServerPatch } from '../model/index.js';
import { keepClaim, ownClaim } from '../scheduler/server-claims.js';
import { hasLocalRoot } from '../volumes/root-disk.js';
import { keepVolumesReserved } from '../volumes/server-volumes.js';
import { dropUnfinished, takeSnapshot } from './snapshot.js';
import { failTask, type Task } from './task.js';
import type { TaskRun } from './task-run.js';

/** What shelving asks of its job: the image that was made, without content, for the disk. */
export interface ShelveArguments {
  readonly imageId: string | null;
}

/** Takes a shelved server from its host; disks of volumes and ports stay its own. */
async function offload(run: TaskRun): Promise<void> {
  await run.perform({ verb: 'shelve_offload' }, 'shelving_offloading', 'compute_shelve_offload_instance');
  if (run.server.interfaces.length > 0)
    await run.core.catalogs.networks.movePorts(run.context.caller, run.server.id, '');
  const blockDevices = await keepVolumesReserved(run, run.job.id);
  await run.finish(
    { vmState: 'shelved_offloaded', powerState: 4, host: null, node: null, blockDevices },
    (tx, server) => keepClaim(tx, server, undefined),
  );
}

/** Stops a server and keeps its disk as an image; servers whose disk is a volume leave their host at once. */
export const shelveTask: Task = {
  action: 'shelve',
  run: async (run) => {
    const { imageId } = run.arguments as ShelveArguments;
    if (run.server.vmState !== 'shelved') {
      await run.perform({ verb: 'power_off' }, 'shelving', 'compute_shelve_instance');
      if (imageId) {
        const tasks = ['shelving_image_pending_upload', 'shelving_image_uploading'] as const;
        await takeSnapshot(run, imageId, tasks, 'compute_snapshot_instance');
      }
    }
    const shelved: ServerPatch = {
      vmState: 'shelved',
      powerState: 4,
      shelvedImageId: imageId,
      setAsideAt: run.core.clock.now(),
    };
    if (run.core.settings.shelvedOffloadSeconds !== 0 && hasLocalRoot(run.server)) return run.finish(shelved);
    await run.update({ ...shelved, taskState: 'shelving_offloading' });
    await offload(run);
  },
  fail: async (run, error) => {
    const { imageId } = run.arguments as ShelveArguments;
    if (imageId && run.server.shelvedImageId !== imageId) await dropUnfinished(run, imageId);
    await failTask(run, 'shelve', error);
  },
  abandoned: async (run) => {
    const { imageId } = run.arguments as ShelveArguments;
    return imageId ? dropUnfinished(run, imageId) : undefined;
  },
};

export const shelveOffloadTask: Task = { action: 'shelveOffload', run: offload };

/** What unshelving asks of its job. */
export interface UnshelveArguments {
  readonly host?: string;
}

async function placeAgain(run: TaskRun): Promise<void> {
  if (run.server.host) return;
  const { host } = run.arguments as UnshelveArguments;
  const { core } = run;
  const map = await core.infrastructure.hosts();
  await run.update({ taskState: 'spawning' }, async (tx, server): Promise<ServerPatch> => {
    const destination = await claimDestination(tx, core, map, server, { flavor: server.flavor, host });
    return { host: destination.host, node: destination.node, claims: [destination.claim] };
  });
}

/** Brings a shelved server back, on a host if it has none any more. */
export const unshelveTask: Task = {
  action: 'unshelve',
  run: async (run) => {
    const { shelvedImageId } = run.server;
    if (run.server.vmState === 'shelved_offloaded') {
      await run.step('conductor_unshelve_server', () => placeAgain(run));
      await followServer(run);
      await run.perform({ verb: 'unshelve', imageId: shelvedImageId }, 'spawning', 'compute_unshelve_instance');
    } else {
      await run.perform({ verb: 'power_on' }, 'unshelving', 'compute_start_instance');
    }
    const { images } = run.core.catalogs;
    if (shelvedImageId) await images.delete(run.context.caller, shelvedImageId).catch(() => {});
    await run.finish({
      vmState: 'active',
      powerState: 1,
      shelvedImageId: null,
      setAsideAt: undefined,
      launchedAt: run.core.clock.now(),
    });
  },
  fail: async (run, error) => {
    const offloaded = run.server.vmState === 'shelved_offloaded';
    if (offloaded && run.server.interfaces.length > 0)
      await run.core.catalogs.networks.movePorts(run.context.caller, run.server.id, '');
    const gone = { host: null, node: null, powerState: 4 as PowerState };
    await failTask(run, 'unshelve', error, offloaded ? gone : {}, (tx, server) =>
      keepClaim(tx, server, offloaded ? undefined : ownClaim(server)),
    );
  },
};
