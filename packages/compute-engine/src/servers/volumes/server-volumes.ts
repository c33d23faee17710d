import { randomUUID } from 'node:crypto';
import { ifMissing } from '@apistrata/catalogs';
import type { ServerScope } from '../../core/core.js';
import type { BlockDevice } from '../../model/index.js';

/** Maximum number of times that a volume's status is polled while the volume is being created. */
const MAX_VOLUME_POLLS = 600;

/** Interval in milliseconds between polls of a volume's status. */
const VOLUME_POLL_INTERVAL_MS = 1000;

/** Waits until a new volume is complete, including its content. */
export async function waitUntilAvailable(
  { core, context, signal }: ServerScope & { readonly signal: AbortSignal },
  volumeId: string,
): Promise<void> {
  for (let poll = 0; poll < MAX_VOLUME_POLLS; poll++) {
    const { status } = await core.catalogs.volumes.getVolume(context.caller, volumeId);
    if (status === 'available' || status === 'in-use' || status === 'reserved') return;
    if (status.startsWith('error'))
      throw new Error(`Volume ${volumeId} did not finish being created: its status is ${status}`);
    await core.clock.sleep(VOLUME_POLL_INTERVAL_MS, signal);
  }
  throw new Error(`Volume ${volumeId} did not finish being created in time`);
}

/** Attaches the volumes of a server. */
export async function connectVolumes(
  scope: ServerScope,
  devices: readonly BlockDevice[],
): Promise<readonly BlockDevice[]> {
  if (!devices.some(({ destination }) => destination === 'volume')) return devices;
  const connectedDevices: BlockDevice[] = [];
  for (const device of devices)
    connectedDevices.push(device.volumeId === null ? device : await connectVolume(scope, device, device.volumeId));
  return connectedDevices;
}

/** Attaches a volume in three idempotent steps: reserve, connect, complete. */
export async function connectVolume(scope: ServerScope, device: BlockDevice, volumeId: string): Promise<BlockDevice> {
  const { volumes } = scope.core.catalogs;
  const { caller } = scope.context;
  const { id: serverId, host } = scope.server;
  const attachmentId =
    device.attachmentId ?? (await volumes.reserve(caller, { key: randomUUID(), volumeId, serverId })).id;
  await volumes.connect(caller, attachmentId, { host: host ?? '', mountpoint: device.device });
  await volumes.complete(caller, attachmentId);
  return { ...device, attachmentId, attachedAt: scope.core.clock.now() };
}

/** Returns the ids of all attachments of a server to a volume. */
export async function attachmentsTo(
  { core, context, server }: ServerScope,
  volumeId: string | null,
): Promise<readonly string[]> {
  const volume = volumeId
    ? await core.catalogs.volumes.getVolume(context.caller, volumeId).catch(ifMissing)
    : undefined;
  return (volume?.attachments ?? []).filter(({ serverId }) => serverId === server.id).map(({ id }) => id);
}

/** Detaches volumes from a server, and deletes the volumes that must be deleted with the server. */
export async function releaseVolumes(scope: ServerScope, devices: readonly BlockDevice[]): Promise<void> {
  const { volumes } = scope.core.catalogs;
  const { caller } = scope.context;
  for (const { attachmentId, volumeId, deleteOnTermination } of devices) {
    // If no attachment is recorded, a crashed process may have created some.
    const attachmentIds = attachmentId ? [attachmentId] : await attachmentsTo(scope, volumeId);
    for (const id of attachmentIds) await volumes.deleteAttachment(caller, id);
    if (volumeId && deleteOnTermination) await volumes.deleteVolume(caller, volumeId).catch(() => {});
  }
}
