import type { ServerPatch, TaskState } from '../../model/index.js';
import { hasLocalRoot, isVolumeBacked } from '../../servers/volumes/root-disk.js';
import { createSnapshotImage, deleteUnfinishedImage, takeSnapshot } from '../images/snapshot.js';
import { action } from '../runner/action.js';
import { failRun } from '../runner/fail-run.js';
import { BOOTED_STATES } from '../states.js';
import { offload } from './offload.js';
import { deleteUnrecordedAttachments } from './reserve-volumes.js';

/** Arguments of the shelve job. */
export interface ShelveArguments {
  /** Id of the image that the request created without data. Null for volume-backed servers. */
  readonly imageId: string | null;
}

const UPLOAD_TASK_STATES = [
  'shelving_image_pending_upload',
  'shelving_image_uploading',
] as const satisfies readonly TaskState[];

/**
 * Shelves a server: stops it and stores its disk as an image. A volume-backed server is removed from its host
 * immediately.
 */
export const shelve = action({
  name: 'shelve',
  vmStates: BOOTED_STATES,
  lock: true,
  rejectionWithShares: 'CONFLICT',
  during: ['shelving', ...UPLOAD_TASK_STATES],
  history: 'shelve',
  notifies: { failed: 'shelve' },
  onFailure: 'error',
  begin: async (scope) => {
    const { server } = scope;
    const argumentsWithoutImage: ShelveArguments = { imageId: null };
    if (isVolumeBacked(server)) return { arguments: argumentsWithoutImage };
    const draft = { name: `${server.name}-shelved`, type: 'snapshot', properties: {} } as const;
    const { imageId, undo } = await createSnapshotImage(scope, draft);
    return { arguments: { imageId }, undoAfterRejection: undo };
  },
  run: async (run) => {
    const { imageId } = run.arguments;
    // A volume-backed server needs no image, so only its removal from the host is reported as a step.
    if (imageId) run.enter('shelve');
    if (run.server.vmState !== 'shelved') {
      await run.perform({ verb: 'power_off' }, 'shelving', 'compute_shelve_instance');
      if (imageId) await takeSnapshot(run, imageId, UPLOAD_TASK_STATES, 'compute_snapshot_instance');
    }
    const shelvedPatch: ServerPatch = {
      vmState: 'shelved',
      powerState: 4,
      shelvedImageId: imageId,
      setAsideAt: run.core.clock.now(),
    };
    if (run.core.settings.shelvedOffloadSeconds !== 0 && hasLocalRoot(run.server)) return run.finish(shelvedPatch);
    await run.update({ ...shelvedPatch, taskState: 'shelving_offloading' });
    run.endStep();
    await offload(run);
  },
  fail: async (run, error) => {
    const { imageId } = run.arguments;
    if (imageId && run.server.shelvedImageId !== imageId) await deleteUnfinishedImage(run, imageId);
    await failRun(run, 'error', error);
  },
  cleanUpAfterTakeover: async (run) => {
    const { imageId } = run.arguments;
    await deleteUnrecordedAttachments(run);
    return imageId ? deleteUnfinishedImage(run, imageId) : undefined;
  },
});
