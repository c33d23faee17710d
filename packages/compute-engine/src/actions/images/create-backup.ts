import { badRequest } from '../../errors/rejection.js';
import type { TaskState } from '../../model/index.js';
import { isVolumeBacked } from '../../servers/volumes/root-disk.js';
import { action } from '../runner/action.js';
import { failRun } from '../runner/fail-run.js';
import type { ServerRun } from '../runner/server-run.js';
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

/** A request to create a backup, which is an image in a series of backups. */
export interface BackupRequest extends SnapshotRequest {
  /** Name of the backup series, for example `daily` or `weekly`. */
  readonly backupType: string;
  /** Number of backups to keep in the series. */
  readonly rotation: number;
}

/** Arguments of the backup job. */
export interface BackupArguments extends SnapshotArguments {
  readonly backupType: string;
  readonly rotation: number;
}

const BACKUP_TASK_STATES: readonly TaskState[] = ['image_backup', ...SNAPSHOT_TASK_STATES.slice(1)];

/** Deletes the oldest backups in a series, so that at most `rotation` backups remain. */
async function deleteOldestBackups(run: ServerRun<BackupArguments>): Promise<void> {
  const { backupType, rotation } = run.arguments;
  const { images } = run.core.catalogs;
  const { caller } = run.context;
  const properties = { image_type: 'backup', backup_type: backupType, instance_uuid: run.server.id };
  const backups = await images.list(caller, { properties });
  for (const { id } of backups.slice(rotation)) await images.delete(caller, id).catch(() => {});
}

/**
 * Creates an image of a server as the newest backup in a series, and deletes the oldest backups in the series. Returns
 * the id of the image.
 */
export const createBackup = action({
  name: 'createBackup',
  vmStates: BOOTED_STATES,
  lock: false,
  during: BACKUP_TASK_STATES,
  history: 'createBackup',
  notifies: 'snapshot',
  onFailure: 'unchanged',
  begin: async (scope, request: BackupRequest) => {
    if (isVolumeBacked(scope.server)) throw badRequest('Backup is not supported for volume-backed instances.');
    await checkProperties(scope, request);
    const { name, backupType, rotation, metadata } = request;
    const properties = { ...metadata, backup_type: backupType };
    const { imageId, undo } = await createSnapshotImage(scope, { name, type: 'backup', properties });
    const args: BackupArguments = { imageId, backupType, rotation };
    return { arguments: args, result: () => imageId, undoAfterRejection: undo };
  },
  run: async (run) => {
    await takeSnapshot(run, run.arguments.imageId, BACKUP_TASK_STATES, 'compute_backup_instance');
    await deleteOldestBackups(run);
    await run.finish({});
  },
  fail: async (run, error) => {
    await deleteUnfinishedImage(run, run.arguments.imageId);
    await failRun(run, 'unchanged', error);
  },
  cleanUpAfterTakeover: (run) => deleteUnfinishedImage(run, run.arguments.imageId),
});
