import type { Image, NewImage } from '../catalogs/index.js';
import { type ActionName, transitionOf } from '../lifecycle/transitions.js';
import type { Server, TaskState } from '../model/index.js';
import { failTask, type Task } from './task.js';
import type { TaskRun } from './task-run.js';

/** What a snapshot asks of its job. The image was made, without content, by the request. */
export interface SnapshotArguments {
  readonly imageId: string;
}

/** What a backup asks beyond that. */
export interface BackupArguments extends SnapshotArguments {
  readonly backupType: string;
  /** How many backups of the type stay. */
  readonly rotation: number;
}

/** Properties that speak of the image they were made for, and of no copy of it. */
const NOT_INHERITED = new Set(['cache_in_nova', 'bittorrent', 'img_block_device_mapping', 'block_device_mapping']);
const NOT_INHERITED_PREFIXES = ['img_signature', 'cinder_encryption_key', 'image_'];

function inherited(properties: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).filter(
      ([key]) => !NOT_INHERITED.has(key) && !NOT_INHERITED_PREFIXES.some((prefix) => key.startsWith(prefix)),
    ),
  );
}

/** The image that a copy of a server's disk becomes: what its base says, and where it comes from. */
export function snapshotImage(
  server: Server,
  image: { readonly id: string; readonly name: string; readonly type: 'snapshot' | 'backup' },
  base: Image | undefined,
  properties: Readonly<Record<string, string>>,
): NewImage {
  return {
    id: image.id,
    name: image.name,
    projectId: server.projectId,
    visibility: 'private',
    minRamMb: base?.minRamMb ?? 0,
    minDiskGb: Math.max(server.flavor.diskGb, base?.minDiskGb ?? 0),
    diskFormat: base?.diskFormat ?? 'qcow2',
    containerFormat: base?.containerFormat ?? 'bare',
    properties: {
      ...inherited(server.imageProperties),
      image_type: image.type,
      instance_uuid: server.id,
      base_image_ref: server.imageId,
      user_id: server.userId,
      owner_id: server.projectId,
      ...properties,
    },
  };
}

/** Has the driver copy the disk, and gives the copy to the image service. The tasks are shown one after the other. */
export async function takeSnapshot(
  run: TaskRun,
  imageId: string,
  tasks: readonly TaskState[],
  event: string,
): Promise<void> {
  const { driver, catalogs } = run.core;
  await run.passThrough(tasks.slice(0, -1));
  await run.perform({ verb: 'snapshot', imageId }, tasks.at(-1), event);
  const content = (await driver.snapshotContent?.(run.server, imageId)) ?? new Uint8Array();
  await catalogs.images.upload(run.context.caller, imageId, content);
}

/** Removes an image that never got its content. */
export async function dropUnfinished(run: TaskRun, imageId: string): Promise<undefined> {
  const { images } = run.core.catalogs;
  const image = await images.get(run.context.caller, imageId).catch(() => undefined);
  if (image && image.status !== 'active') await images.delete(run.context.caller, imageId).catch(() => {});
}

/** Backups of one type, newest first: what is beyond the rotation goes. */
async function rotate(run: TaskRun): Promise<void> {
  const { backupType, rotation } = run.arguments as BackupArguments;
  const { images } = run.core.catalogs;
  const { caller } = run.context;
  const properties = { image_type: 'backup', backup_type: backupType, instance_uuid: run.server.id };
  const backups = await images.list(caller, { properties });
  for (const { id } of backups.slice(rotation)) await images.delete(caller, id).catch(() => {});
}

function snapshotTask(action: ActionName, event: string, after: (run: TaskRun) => Promise<void>): Task {
  const drop = (run: TaskRun) => dropUnfinished(run, (run.arguments as SnapshotArguments).imageId);
  return {
    action,
    run: async (run) => {
      await takeSnapshot(run, (run.arguments as SnapshotArguments).imageId, transitionOf(action).during, event);
      await after(run);
      await run.finish({});
    },
    fail: async (run, error) => {
      await drop(run);
      await failTask(run, action, error);
    },
    abandoned: drop,
  };
}

export const createImageTask = snapshotTask('createImage', 'compute_snapshot_instance', async () => {});
export const createBackupTask = snapshotTask('createBackup', 'compute_backup_instance', rotate);
