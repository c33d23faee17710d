import { isVolumeBacked } from '../../servers/volumes/root-disk.js';
import { action } from '../runner/action.js';
import { failRun } from '../runner/fail-run.js';
import { BOOTED_STATES } from '../states.js';
import {
  checkProperties,
  createSnapshotImage,
  deleteUnfinishedImage,
  SNAPSHOT_TASK_STATES,
  type SnapshotArguments,
  type SnapshotRequest,
  takeSnapshot,
} from './snapshot.js';
import { snapshotVolumes } from './volume-snapshot.js';

/**
 * Creates an image of a server and returns the image's id. The image data is uploaded in the background. For a
 * volume-backed server, the request itself creates snapshots of the volumes.
 */
export const createImage = action({
  name: 'createImage',
  vmStates: BOOTED_STATES,
  lock: false,
  during: SNAPSHOT_TASK_STATES,
  history: 'createImage',
  notifies: 'snapshot',
  onFailure: 'unchanged',
  begin: async (scope, request: SnapshotRequest) => {
    await checkProperties(scope, request);
    const isVolumeBackedServer = isVolumeBacked(scope.server);
    const { name, metadata: properties = {} } = request;
    const { imageId, undo } = isVolumeBackedServer
      ? await snapshotVolumes(scope, 'createImage', request)
      : await createSnapshotImage(scope, { name, type: 'snapshot', properties });
    const args: SnapshotArguments = { imageId };
    return {
      arguments: args,
      result: () => imageId,
      undoAfterRejection: undo,
      ...(isVolumeBackedServer && { done: true as const }),
    };
  },
  run: async (run) => {
    await takeSnapshot(run, run.arguments.imageId, SNAPSHOT_TASK_STATES, 'compute_snapshot_instance');
    await run.finish({});
  },
  fail: async (run, error) => {
    await deleteUnfinishedImage(run, run.arguments.imageId);
    await failRun(run, 'unchanged', error);
  },
  cleanUpAfterTakeover: (run) => deleteUnfinishedImage(run, run.arguments.imageId),
});
