import { unlessRefused } from '../catalogs/unless-refused.js';
import type { Core } from '../core.js';
import type { BlockDevice, Caller, Server } from '../model/index.js';
import type { SideRun } from './side-run.js';
import { Superseded } from './task-run.js';

/** The disk with that id; throws `Superseded` when the server has it no more. */
export function deviceOf(server: Server, deviceId: string): BlockDevice {
  const device = server.blockDevices.find(({ id }) => id === deviceId);
  if (!device) throw new Superseded(`${server.id} has no device ${deviceId} any more`);
  return device;
}

/** Changes one disk and leaves the others as they are. */
export async function changeDevice(run: SideRun, deviceId: string, change: Partial<BlockDevice>): Promise<void> {
  await run.change((server) => {
    const changed = { ...deviceOf(server, deviceId), ...change };
    return { blockDevices: server.blockDevices.map((device) => (device.id === deviceId ? changed : device)) };
  });
}

/** Takes one disk out of the server, if both are still there. */
export async function dropDevice(run: SideRun, deviceId: string): Promise<void> {
  await ifStillThere(() =>
    run.change((server) => {
      deviceOf(server, deviceId);
      return { blockDevices: server.blockDevices.filter(({ id }) => id !== deviceId) };
    }),
  );
}

/** Does something to a server, or to a thing of it, unless it is gone. */
export async function ifStillThere(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
  }
}

interface ReservationKey {
  readonly key: string;
  readonly volumeId: string;
  readonly serverId: string;
  readonly attachmentId: string | null;
}

/**
 * Ends the attachment that a request may have made under this key. Reserving once more with the same key finds it,
 * however little of it was written down.
 */
export async function forgetAttachment(
  { catalogs: { volumes } }: Core,
  caller: Caller,
  { key, volumeId, serverId, attachmentId }: ReservationKey,
): Promise<void> {
  const id = attachmentId ?? (await unlessRefused(volumes.reserve(caller, { key, volumeId, serverId })))?.id;
  if (id) await unlessRefused(volumes.deleteAttachment(caller, id));
}
