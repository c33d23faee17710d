import type { BlockDevice, Server } from '../../model/index.js';
import { patchDevice } from '../../servers/volumes/patch-device.js';
import type { ConcurrentRun } from '../runner/concurrent-run.js';
import { ignoreIfDeleted, Superseded } from '../runner/superseded.js';

/** Returns the block device with the given id. Throws `Superseded` if the server no longer has this device. */
export function requireDevice(server: Server, deviceId: string): BlockDevice {
  const device = server.blockDevices.find(({ id }) => id === deviceId);
  if (!device) throw new Superseded(`server ${server.id} no longer has device ${deviceId}`);
  return device;
}

/** Changes one block device in the server record. */
export async function changeDevice(run: ConcurrentRun, deviceId: string, change: Partial<BlockDevice>): Promise<void> {
  await run.change((server) => {
    requireDevice(server, deviceId);
    return patchDevice(server, deviceId, change);
  });
}

/**
 * Removes a block device, whose attachment has been released, from the server record. If another job has replaced the
 * attachment in the meantime, the new attachment is also released. No-op if the device or the server no longer exists.
 */
export async function removeDevice(
  run: ConcurrentRun,
  deviceId: string,
  releasedId: string | null,
  release: (attachmentId: string) => Promise<unknown>,
): Promise<void> {
  let replacementId: string | null = null;
  await ignoreIfDeleted(() =>
    run.change((server) => {
      const { attachmentId } = requireDevice(server, deviceId);
      if (attachmentId === releasedId) return { blockDevices: server.blockDevices.filter(({ id }) => id !== deviceId) };
      replacementId = attachmentId;
      return {};
    }),
  );
  if (!replacementId) return;
  await release(replacementId);
  await removeDevice(run, deviceId, replacementId, release);
}
