import { randomUUID } from 'node:crypto';
import { derivedUuid } from '../catalogs/derived-uuid.js';
import type { BlockDevice, Server } from '../model/index.js';
import { Superseded, type TaskRun } from './task-run.js';

/** True when the root disk is on the host itself. */
export function hasLocalRoot({ blockDevices }: Pick<Server, 'blockDevices'>): boolean {
  return !blockDevices.some(({ bootIndex, destination }) => bootIndex === 0 && destination === 'volume');
}

/** How often, and how long apart, a volume that is being made is asked for. */
const VOLUME_POLLS = 600;
const VOLUME_POLL_MS = 1000;

/** Waits until a volume has its content. */
export async function untilAvailable(run: TaskRun, volumeId: string): Promise<void> {
  for (let poll = 0; poll < VOLUME_POLLS; poll++) {
    const { status } = await run.core.catalogs.volumes.getVolume(run.context.caller, volumeId);
    if (status === 'available' || status === 'in-use' || status === 'reserved') return;
    if (status.startsWith('error'))
      throw new Error(`Volume ${volumeId} did not finish being created: its status is ${status}`);
    await run.core.clock.sleep(VOLUME_POLL_MS, run.signal);
  }
  throw new Error(`Volume ${volumeId} did not finish being created in time`);
}

/**
 * Makes the volumes that a server is to have from images, snapshots or nothing. Each is written down as soon as there is
 * one, so that whoever removes the server finds it.
 */
export async function createBootVolumes(run: TaskRun): Promise<readonly BlockDevice[]> {
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
  const wanted = run.server.blockDevices.filter(
    ({ destination, source }) => destination === 'volume' && source !== 'volume',
  );
  for (const device of wanted) {
    const volume = await volumes.createVolume(caller, {
      key: device.volumeId ?? device.id,
      sizeGb: device.sizeGb ?? undefined,
      name: '',
      volumeType: device.volumeType,
      imageId: device.source === 'image' ? device.sourceId : null,
      snapshotId: device.source === 'snapshot' ? device.sourceId : null,
    });
    if (device.volumeId !== volume.id) await rememberVolume(run, device, volume.id);
    await untilAvailable(run, volume.id);
  }
  return run.server.blockDevices;
}

async function rememberVolume(run: TaskRun, { id }: BlockDevice, volumeId: string): Promise<void> {
  const blockDevices = run.server.blockDevices.map((device) => (device.id === id ? { ...device, volumeId } : device));
  await run.update({ blockDevices }).catch(async (error) => {
    if (error instanceof Superseded) await run.core.catalogs.volumes.deleteVolume(run.context.caller, volumeId);
    throw error;
  });
}

/** Ties the server's volumes to it. */
export async function connectVolumes(run: TaskRun, devices: readonly BlockDevice[]): Promise<readonly BlockDevice[]> {
  if (!devices.some(({ destination }) => destination === 'volume')) return devices;
  const connected: BlockDevice[] = [];
  for (const device of devices) connected.push(device.volumeId ? await connectVolume(run, device) : device);
  return connected;
}

/** The three steps of attaching: reserve, connect, complete. Each may be repeated. */
export async function connectVolume(run: TaskRun, device: BlockDevice): Promise<BlockDevice> {
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
  const { server } = run;
  const attachmentId =
    device.attachmentId ??
    (await volumes.reserve(caller, { key: randomUUID(), volumeId: device.volumeId!, serverId: server.id })).id;
  await volumes.connect(caller, attachmentId, { host: server.host ?? '', mountpoint: device.device });
  await volumes.complete(caller, attachmentId);
  return { ...device, attachmentId, attachedAt: run.core.clock.now() };
}

/**
 * Takes volumes from the host that a server leaves, without giving them to anybody else: each gets a new attachment that
 * is only reserved before the connected one ends.
 */
export async function keepVolumesReserved(run: TaskRun): Promise<readonly BlockDevice[]> {
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
  const kept: BlockDevice[] = [];
  for (const device of run.server.blockDevices) {
    if (!device.attachmentId || !device.volumeId) {
      kept.push(device);
      continue;
    }
    const key = derivedUuid(`offload/${run.job.id}/${device.id}`);
    const reserved = await volumes.reserve(caller, { key, volumeId: device.volumeId, serverId: run.server.id });
    if (reserved.id !== device.attachmentId) await volumes.deleteAttachment(caller, device.attachmentId);
    kept.push({ ...device, attachmentId: reserved.id });
  }
  return kept;
}

/** A server's attachments of a volume: the one it knows of, or those that a process made before it died. */
async function attachmentsOf(run: TaskRun, { attachmentId, volumeId }: BlockDevice): Promise<readonly string[]> {
  if (attachmentId) return [attachmentId];
  if (!volumeId) return [];
  const { volumes } = run.core.catalogs;
  const volume = await volumes.getVolume(run.context.caller, volumeId).catch(() => undefined);
  return (volume?.attachments ?? []).filter(({ serverId }) => serverId === run.server.id).map(({ id }) => id);
}

/** Unties volumes from a server and removes those that are to go with it. */
export async function releaseVolumes(run: TaskRun, devices: readonly BlockDevice[]): Promise<void> {
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
  for (const device of devices) {
    for (const id of await attachmentsOf(run, device)) await volumes.deleteAttachment(caller, id);
    const { volumeId, deleteOnTermination } = device;
    if (volumeId && deleteOnTermination) await volumes.deleteVolume(caller, volumeId).catch(() => {});
  }
}
