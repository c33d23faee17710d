import { randomUUID } from 'node:crypto';
import { type Image, ifMissing, type NewImage } from '@apistrata/catalogs';
import type { ServerScope } from '../../core/core.js';
import type { Server, TaskState } from '../../model/index.js';
import { checkMetadataQuota } from '../../resources/quotas/server-quota.js';
import type { ServerRun } from '../runner/server-run.js';

/** A request to create an image from a server's disk. */
export interface SnapshotRequest {
  readonly name: string;
  /** Custom properties of the new image. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Whether the number of properties is limited by the quota for metadata items. */
  readonly limitMetadata: boolean;
}

/** Arguments of the snapshot job. The request has already created the image, but the image has no data yet. */
export interface SnapshotArguments {
  readonly imageId: string;
}

/** The name, type and properties of an image to create. */
export interface ImageDraft {
  readonly name: string;
  readonly type: 'snapshot' | 'backup';
  readonly properties: Readonly<Record<string, string>>;
}

/** The task states of a server during a snapshot, in order. */
export const SNAPSHOT_TASK_STATES = [
  'image_snapshot_pending',
  'image_snapshot',
  'image_pending_upload',
  'image_uploading',
] as const satisfies readonly TaskState[];

/** Image properties that snapshots do not inherit from the server's image. */
const NOT_INHERITED_PROPERTIES = new Set([
  'cache_in_nova',
  'bittorrent',
  'img_block_device_mapping',
  'block_device_mapping',
]);
/**
 * Prefixes of properties that snapshots do not inherit. The image service rejects `os_glance` properties, because it
 * records the progress of imports in them.
 */
const NOT_INHERITED_PREFIXES = ['img_signature', 'cinder_encryption_key', 'image_', 'os_glance'];

function inheritedProperties(properties: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).filter(
      ([key]) => !NOT_INHERITED_PROPERTIES.has(key) && !NOT_INHERITED_PREFIXES.some((prefix) => key.startsWith(prefix)),
    ),
  );
}

/** Throws a 403 error if a request sets more image properties than the project's quota for metadata items allows. */
export async function checkProperties(
  { core, context }: ServerScope,
  { metadata, limitMetadata }: SnapshotRequest,
): Promise<void> {
  if (limitMetadata && metadata) await checkMetadataQuota(core, context, Object.keys(metadata).length);
}

/**
 * Returns the record for a snapshot image. It inherits properties from the base image, and identifies the server and
 * the base image.
 */
export function createSnapshotRecord(
  server: Server,
  id: string,
  draft: ImageDraft,
  baseImage: Image | undefined,
): NewImage {
  return {
    id,
    name: draft.name,
    projectId: server.projectId,
    visibility: 'private',
    minRamMb: baseImage?.minRamMb ?? 0,
    minDiskGb: Math.max(server.flavor.diskGb, baseImage?.minDiskGb ?? 0),
    diskFormat: baseImage?.diskFormat ?? 'qcow2',
    containerFormat: baseImage?.containerFormat ?? 'bare',
    properties: {
      ...inheritedProperties(server.imageProperties),
      image_type: draft.type,
      instance_uuid: server.id,
      base_image_ref: server.imageId,
      user_id: server.userId,
      owner_id: server.projectId,
      ...draft.properties,
    },
  };
}

/**
 * Creates an image without data, so that the response can contain its id. The job uploads the data. Calling `undo`
 * deletes the image.
 */
export async function createSnapshotImage(
  { core, context: { caller }, server }: ServerScope,
  draft: ImageDraft,
): Promise<SnapshotArguments & { readonly undo: () => Promise<unknown> }> {
  const { images } = core.catalogs;
  const { imageId: baseId } = server;
  const baseImage = baseId === '' ? undefined : await images.get(caller, baseId).catch(ifMissing);
  const imageId = randomUUID();
  const image = createSnapshotRecord(server, imageId, draft, baseImage);
  const snapshotFormat = core.machines.snapshotFormat(server);
  const format = snapshotFormat === undefined ? {} : { diskFormat: snapshotFormat, containerFormat: 'bare' };
  await images.create(caller, { ...image, ...format });
  return { imageId, undo: () => images.delete(caller, imageId).catch(() => {}) };
}

/**
 * Makes the driver copy the machine's disk, and uploads the copy to the image service. Sets the task states in order.
 */
export async function takeSnapshot(
  run: ServerRun,
  imageId: string,
  taskStates: readonly TaskState[],
  event: string,
): Promise<void> {
  await run.passThrough(taskStates.slice(0, -1));
  await run.perform({ verb: 'snapshot', imageId }, taskStates.at(-1), event);
  await run.saveSnapshot(imageId);
}

/** Deletes an image whose data was never uploaded. */
export async function deleteUnfinishedImage(run: ServerRun, imageId: string): Promise<undefined> {
  const { images } = run.core.catalogs;
  const image = await images.get(run.context.caller, imageId).catch(() => undefined);
  if (image && image.status !== 'active') await images.delete(run.context.caller, imageId).catch(() => {});
}
