import { isVolumeBacked } from '../../servers/volumes/root-disk.js';
import { action } from '../runner/action.js';
import { failRun } from '../runner/fail-run.js';
import { BOOTED } from '../states.js';
import {
  checkProperties,
  dropUnfinished,
  newSnapshot,
  SNAPSHOT,
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
  vm: BOOTED,
  lock: false,
  during: SNAPSHOT,
  history: 'createImage',
  notifies: 'snapshot',
  onFailure: 'unchanged',
  begin: async (scope, request: SnapshotRequest) => {
    await checkProperties(scope, request);
    const volumeBacked = isVolumeBacked(scope.server);
    const { name, metadata: properties = {} } = request;
    const { imageId, rejected } = volumeBacked
      ? await snapshotVolumes(scope, 'createImage', request)
      : await newSnapshot(scope, { name, type: 'snapshot', properties });
    const args: SnapshotArguments = { imageId };
    return { arguments: args, result: () => imageId, rejected, ...(volumeBacked && { done: true as const }) };
  },
  run: async (run) => {
    await takeSnapshot(run, run.arguments.imageId, SNAPSHOT, 'compute_snapshot_instance');
    await run.finish({});
  },
  fail: async (run, error) => {
    await dropUnfinished(run, run.arguments.imageId);
    await failRun(run, 'unchanged', error);
  },
  abandoned: (run) => dropUnfinished(run, run.arguments.imageId),
});
