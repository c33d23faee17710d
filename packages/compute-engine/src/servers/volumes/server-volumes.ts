import { randomUUID } from 'node:crypto';
import { ifMissing } from '@apistrata/catalogs';
import { derivedUuid } from '@apistrata/catalogs/builtin';
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

/**
 * Disconnects volumes from the host that a server leaves, without releasing the volumes. Each volume receives a new,
 * reserved attachment before its connected attachment is deleted.
 * @param idempotencyKey a string that is the same for repetitions of this call, and different for all other calls
 */
export async function keepVolumesReserved(scope: ServerScope, idempotencyKey: string): Promise<readonly BlockDevice[]> {
  const { volumes } = scope.core.catalogs;
  const { caller } = scope.context;
  const { id: serverId } = scope.server;
  const reservedDevices: BlockDevice[] = [];
  for (const device of scope.server.blockDevices) {
    const { volumeId, attachmentId } = device;
    if (!attachmentId || !volumeId) {
      reservedDevices.push(device);
      continue;
    }
    const reservation = await volumes.reserve(caller, {
      key: derivedUuid(`offload/${idempotencyKey}/${device.id}`),
      volumeId,
      serverId,
    });
    if (reservation.id !== attachmentId) await volumes.deleteAttachment(caller, attachmentId);
    reservedDevices.push({ ...device, attachmentId: reservation.id });
  }
  return reservedDevices;
}

/**
 * Returns the ids of a server's attachments to a volume: the known attachment, or those that a crashed process created.
 */
async function attachmentsOf(
  { core, context, server }: ServerScope,
  { attachmentId, volumeId }: BlockDevice,
): Promise<readonly string[]> {
  if (attachmentId) return [attachmentId];
  if (!volumeId) return [];
  const volume = await core.catalogs.volumes.getVolume(context.caller, volumeId).catch(ifMissing);
  return (volume?.attachments ?? []).filter(({ serverId }) => serverId === server.id).map(({ id }) => id);
}

/** Detaches volumes from a server, and deletes the volumes that must be deleted with the server. */
export async function releaseVolumes(scope: ServerScope, devices: readonly BlockDevice[]): Promise<void> {
  const { volumes } = scope.core.catalogs;
  const { caller } = scope.context;
  for (const device of devices) {
    for (const id of await attachmentsOf(scope, device)) await volumes.deleteAttachment(caller, id);
    const { volumeId, deleteOnTermination } = device;
    if (volumeId && deleteOnTermination) await volumes.deleteVolume(caller, volumeId).catch(() => {});
  }
}
