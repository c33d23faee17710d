import type { BlockDevice, Server } from '../../model/index.js';
import type { ConcurrentRun } from '../runner/concurrent-run.js';
import { ignoreIfDeleted, Superseded } from '../runner/superseded.js';

/** Returns the device with an id; throws `Superseded` if the server no longer has it. */
export function deviceOf(server: Server, deviceId: string): BlockDevice {
  const device = server.blockDevices.find(({ id }) => id === deviceId);
  if (!device) throw new Superseded(`server ${server.id} no longer has device ${deviceId}`);
  return device;
}

/** Changes one device of the server. */
export async function changeDevice(run: ConcurrentRun, deviceId: string, change: Partial<BlockDevice>): Promise<void> {
  await run.change((server) => {
    const changed = { ...deviceOf(server, deviceId), ...change };
    return { blockDevices: server.blockDevices.map((device) => (device.id === deviceId ? changed : device)) };
  });
}

/** Removes a device from the server. No-op if either of them no longer exists. */
export async function dropDevice(run: ConcurrentRun, deviceId: string): Promise<void> {
  await ignoreIfDeleted(() =>
    run.change((server) => {
      deviceOf(server, deviceId);
      return { blockDevices: server.blockDevices.filter(({ id }) => id !== deviceId) };
    }),
  );
}
